"""Slots: every nominal time of a job with its answer, and a way to run what did not."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.domain.explanation import HELD_BECAUSE, SKIPPED_BECAUSE
from tickwell.domain.job import Job
from tickwell.domain.planning import first_cursor
from tickwell.domain.policy import DAY, SECOND
from tickwell.errors import InvalidInput
from tickwell.services.access.actor import Permission
from tickwell.ui.form_fields import parse_instant
from tickwell.ui.formatting import when
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

#: Slots on one page.
SHOWN = 100

router = APIRouter(include_in_schema=False)


@router.get("/jobs/{id}/slots")
async def slots(
    request: Request,
    id: str,
    *,
    since: str = "",
    until: str = "",
    only: str = "",
    visitor: Visitor = visit(Permission.READ),
) -> HTMLResponse:
    """The slots of a range; if none is given, of the last day in which there was the job."""
    operations, actor = visitor.operations, visitor.actor
    entry = await operations.jobs.get(actor, id)
    begin = max(visitor.now - DAY, _begin(entry.job))
    first = parse_instant(since, visitor.zone, "since") or begin
    last = parse_instant(until, visitor.zone, "until") or max(visitor.now, first) + 1
    found, counted = await operations.slots.read(actor, entry.job.id, first, last)
    past = [slot for slot in found.items if slot.fire_time <= visitor.now]
    if first <= entry.job.created_at:
        past = [*await operations.slots.past(actor, entry.job.id, first, last)]
    shown = [slot for slot in found.items if not only or slot.is_open]
    return page(
        request,
        visitor,
        "slots.html",
        job=entry.job,
        slots=list(reversed(shown[-SHOWN:])),
        left_out=max(len(shown) - SHOWN, 0),
        counted=counted,
        open=sum(slot.is_open for slot in past),
        again=sum(slot.has_run for slot in past),
        since=_typed(first, visitor.zone),
        until=_typed(last, visitor.zone),
        only=only,
        why=SKIPPED_BECAUSE,
        held=HELD_BECAUSE,
        skipped=entry.cursor.skipped,
        names={by: await visitor.called(by) for by in {slot.by for slot in shown} if by},
    )


@router.post("/jobs/{id}/backfill")
async def backfill(
    request: Request,
    id: str,
    *,
    since: Annotated[str, Form(max_length=30)],
    until: Annotated[str, Form(max_length=30)],
    force: Annotated[bool, Form()] = False,
    visitor: Visitor = visit(Permission.OPERATE),
) -> Response:
    """Run the slots of a past range that have not run."""
    first, last = (
        parse_instant(since, visitor.zone, "since"),
        parse_instant(until, visitor.zone, "until"),
    )
    if first is None or last is None:
        raise InvalidInput("start and end of the range are required", field="since")
    found = await visitor.operations.executions.backfill(
        visitor.actor, id, first, last, force=force
    )
    message = f"{len(found.ids):,} slots are running, {found.left_alone:,} had already run"
    if found.next is not None:
        message += f"; more slots follow from {when(found.next, visitor.zone)}"
    return redirect_with_toast(request, message)


def _begin(job: Job) -> int:
    """The first whole second of a job: the one after it was made, if it does not fire before."""
    begin = (job.created_at // SECOND + 1) * SECOND
    fires = first_cursor(job, job.created_at).next_fire_time
    return begin if fires is None else min(begin, fires // SECOND * SECOND)


def _typed(instant: int, zone: ZoneInfo) -> str:
    """As a field for date and time takes it."""
    return f"{datetime.fromtimestamp(instant // 1000, UTC).astimezone(zone):%Y-%m-%dT%H:%M:%S}"
