"""Metrics over time: rate, errors, duration, lateness and queue depth."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from tickwell.domain.tally import OTHER, Named, total
from tickwell.services.access.actor import Permission
from tickwell.services.insights.metrics import SPANS, Percentiles
from tickwell.ui.rendering import page
from tickwell.ui.svg.bars import ended_bars, failed_bars
from tickwell.ui.svg.lines import depth_line, percentile_lines
from tickwell.ui.visitor import Visitor, visit

DEFAULT = "1h"
#: Jobs, and queues, that are listed; the others are one row.
LISTED = 12

router = APIRouter(include_in_schema=False)

Text = Annotated[str, Query(max_length=255)]


@router.get("/charts")
async def charts(
    request: Request,
    *,
    span: str = DEFAULT,
    queue: Text = "",
    job: Text = "",
    all: str = "",
    visitor: Visitor = visit(Permission.READ),
) -> HTMLResponse:
    """The last hour by the minute, or the last day or week by the hour."""
    span = span if span in SPANS else DEFAULT
    every = bool(all) and visitor.may(Permission.PLATFORM)
    insights, executions = visitor.operations.insights, visitor.operations.executions
    entry = await executions.job_of(visitor.actor, job) if job and not every else None
    found = await insights.series(
        visitor.actor,
        span,
        queue=queue or None,
        job=entry.job.id if entry else None,
        all_projects=every,
    )
    view = {"span": span, "queue": queue, "job": entry.job.id if entry else ""}
    view["all"] = "1" if every else ""
    duration = {start: Percentiles.of(each.took) for start, each in found.tallies.items()}
    lateness = {start: Percentiles.of(each.late) for start, each in found.tallies.items()}
    period, zone = found.within.period, visitor.zone
    return page(
        request,
        visitor,
        "charts.html",
        found=found,
        queues=_listed(found.queues),
        jobs=_listed(found.jobs),
        view=view,
        address=_addresses(view),
        spans=SPANS,
        per="minute" if span == DEFAULT else "hour",
        job=entry.job if entry else None,
        names=await insights.job_names(visitor.actor, [*filter(None, found.jobs)]),
        percentiles=Percentiles.of,
        duration=duration,
        lateness=lateness,
        ended_chart=ended_bars(found.tallies, period, zone),
        failed_chart=failed_bars(found.tallies, period, zone),
        duration_chart=percentile_lines(duration, period, zone, "Duration"),
        lateness_chart=percentile_lines(lateness, period, zone, "Start lateness"),
        depth_chart=depth_line(found.depths, period, zone),
    )


def _addresses(view: dict[str, str]) -> Callable[..., str]:
    """The address of this page with some of its parameters replaced."""

    def address(**changed: str) -> str:
        chosen = {name: value for name, value in (view | changed).items() if value}
        return f"/charts?{urlencode(chosen)}"

    return address


def _listed(found: Named) -> Named:
    """The busiest, and all others together."""
    names = [name for name in found if name != OTHER][:LISTED]
    others = [found[name] for name in found if name not in names]
    return {name: found[name] for name in names} | ({OTHER: total(others)} if others else {})
