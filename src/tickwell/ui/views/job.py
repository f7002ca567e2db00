"""One job: what it does and when, how it went, what comes, and what can be done with it."""

from __future__ import annotations

from typing import Annotated
from zoneinfo import ZoneInfo

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.domain.explanation import repeat_of
from tickwell.domain.job import Entry, JobState
from tickwell.domain.trigger import OnDemand, Trigger
from tickwell.services.access.actor import Permission
from tickwell.services.insights.job_history import LATEST
from tickwell.services.jobs.fire_times import is_edited, overdue
from tickwell.services.operations.previews import warnings
from tickwell.ui.draft import definition
from tickwell.ui.form_fields import parse_delay, parse_json
from tickwell.ui.formatting import when
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.svg.strips import history_strip
from tickwell.ui.views.maintenance import fires_inside, maintenance_of
from tickwell.ui.visitor import Visitor, visit

FIRES = 10

router = APIRouter(include_in_schema=False)


@router.get("/jobs/{id}")
async def job(request: Request, id: str, visitor: Visitor = visit(Permission.READ)) -> HTMLResponse:
    """Everything about it."""
    operations, actor = visitor.operations, visitor.actor
    entry = await operations.executions.job_of(actor, id)
    history = await operations.insights.job_history(actor, entry.job.id)
    alive = entry.cursor.state.value != "deleted"
    paused = entry.cursor.pause
    fires = (await operations.slots.next_fires(actor, entry.job.id, FIRES))[0] if alive else ()
    late = overdue(entry, visitor.now)
    shown = list(fires) if late is None else [late, *(each for each in fires if each != late)]
    maintenance = await maintenance_of(visitor, entry.job) if alive else []
    return page(
        request,
        visitor,
        "job.html",
        entry=entry,
        job=entry.job,
        alive=alive,
        paused_by=await visitor.called(paused.by) if paused else "",
        alerts=[each for each in await operations.alerts.list(actor) if each.job == entry.job.id],
        history=history,
        strip=history_strip(history.executions, LATEST),
        fires=shown,
        inside=fires_inside(maintenance, entry.job, shown),
        maintenance=maintenance,
        rests=_rests(entry),
        zone=_zone(entry.job.trigger),
        document=definition(entry.job),
        warnings=[
            *await warnings(entry.job.trigger, visitor.now),
            *(await operations.jobs.warnings(actor, [entry.job]) if alive else ()),
        ],
        edited=is_edited(entry.job),
    )


@router.post("/jobs/{id}/pause")
async def pause(
    request: Request,
    id: str,
    why: Annotated[str, Form(max_length=500)] = "",
    how_long: Annotated[str, Form(max_length=20)] = "",
    visitor: Visitor = visit(Permission.OPERATE),
) -> Response:
    """Stop firing, for a while or until somebody resumes it."""
    until = parse_delay(how_long, "how_long")
    changed = await visitor.operations.jobs.pause(visitor.actor, id, why=why, until=until)
    return redirect_with_toast(request, f"Paused {changed.entry.job.name}", f"/jobs/{id}")


@router.post("/jobs/{id}/resume")
async def resume(
    request: Request, id: str, visitor: Visitor = visit(Permission.OPERATE)
) -> Response:
    """Fire again from now on."""
    changed = await visitor.operations.jobs.resume(visitor.actor, id)
    return redirect_with_toast(request, f"Resumed {changed.entry.job.name}", f"/jobs/{id}")


@router.post("/jobs/{id}/skip")
async def skip(
    request: Request,
    id: str,
    at: Annotated[int, Form(ge=0, lt=10**14)],
    why: Annotated[str, Form(max_length=1000)] = "",
    visitor: Visitor = visit(Permission.OPERATE),
) -> Response:
    """Skip one occurrence before it comes."""
    done = await visitor.operations.slots.skip(visitor.actor, id, at, why=why)
    said = f"Skipped {done.entry.job.name} at {when(at, visitor.zone)}"
    return redirect_with_toast(request, said, f"/jobs/{id}")


@router.post("/jobs/{id}/unskip")
async def unskip(
    request: Request,
    id: str,
    at: Annotated[int, Form(ge=0, lt=10**14)],
    visitor: Visitor = visit(Permission.OPERATE),
) -> Response:
    """Let an occurrence that was skipped run after all."""
    done = await visitor.operations.slots.unskip(visitor.actor, id, at)
    said = f"{done.entry.job.name} fires at {when(at, visitor.zone)}"
    return redirect_with_toast(request, said, f"/jobs/{id}")


@router.post("/jobs/{id}/trigger")
async def trigger(
    request: Request,
    id: str,
    payload: Annotated[str, Form(max_length=65_536)] = "",
    visitor: Visitor = visit(Permission.OPERATE),
) -> Response:
    """Run it now, with its own payload or another one."""
    found = await visitor.operations.executions.trigger(
        visitor.actor, id, payload=parse_json(payload, "payload")
    )
    words = "Requested" if found.is_new else f"N{repeat_of(found.state)[1:]}"
    return redirect_with_toast(request, words, f"/executions/{found.id}")


@router.post("/jobs/{id}/delete")
async def delete(request: Request, id: str, visitor: Visitor = visit(Permission.EDIT)) -> Response:
    """Take it away; its history stays until it is pruned."""
    changed = await visitor.operations.jobs.delete(visitor.actor, id)
    return redirect_with_toast(request, f"Deleted {changed.entry.job.name}", "/jobs")


def _zone(trigger: Trigger) -> ZoneInfo | None:
    """The zone that the trigger reckons in, if it has one."""
    name = getattr(trigger, "tz", None)
    return ZoneInfo(name) if isinstance(name, str) else None


def _rests(entry: Entry) -> tuple[str, str]:
    """What to say of a job of which no fire time is known, and why."""
    trigger, state, pause = entry.job.trigger, entry.cursor.state, entry.cursor.pause
    ends = state is JobState.PAUSED and pause is not None and pause.until is not None
    if trigger.follows_finish and (state is JobState.ACTIVE or ends):
        return "Next fire time not known yet", "It counts from the end of the previous run."
    return "No scheduled fires", {
        JobState.ACTIVE: "It runs only when triggered."
        if isinstance(trigger, OnDemand)
        else "Its last fire time has been reached.",
        JobState.PAUSED: "It is paused until resumed."
        if not ends
        else "It is paused, and its trigger has no fire time after that.",
        JobState.FINISHED: "It is finished: its trigger has no fire time left.",
        JobState.DELETED: "It is deleted.",
    }[state]
