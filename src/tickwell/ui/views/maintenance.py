"""Maintenance windows: what is on, what comes, and the form that adds one."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.domain.job import Job
from tickwell.domain.maintenance import Closed
from tickwell.domain.trigger.duration import parse_duration
from tickwell.services.access.actor import Permission
from tickwell.services.monitors.definition import read_schedule
from tickwell.services.projects.maintenance import Maintenance, Schedule, WindowState
from tickwell.ui.form_fields import parse_instant
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

router = APIRouter(include_in_schema=False)
PATH = "/maintenance"


async def windows_on(visitor: Visitor) -> list[Maintenance]:
    """Those that are on for jobs of the project."""
    found = await visitor.operations.maintenance.list(visitor.actor)
    return [each for each in found if each.state is WindowState.ON]


async def maintenance_of(visitor: Visitor, job: Job) -> list[Maintenance]:
    """The windows that a job is in now, or next: first those that are on."""
    found = await visitor.operations.maintenance.list(visitor.actor)
    return [
        each
        for each in found
        if each.span is not None and each.window.covers(job.project, job.queue, job.tags)
    ]


def fires_inside(windows: list[Maintenance], job: Job, fires: list[int]) -> list[int]:
    """Those of some fire times to come that lie in windows."""
    is_inside = Closed([each.window for each in windows]).of(job)
    return [] if is_inside is None else [fire for fire in fires if is_inside(fire)]


@router.get(PATH)
async def maintenance(request: Request, visitor: Visitor = visit(Permission.READ)) -> HTMLResponse:
    """All windows of the project and of all projects."""
    found = await visitor.operations.maintenance.list(visitor.actor)
    authors = {each.window.by for each in found}
    return page(
        request,
        visitor,
        "maintenance.html",
        windows=found,
        names={by: await visitor.called(by) for by in authors},
    )


@router.post(PATH)
async def put(
    request: Request,
    *,
    name: Annotated[str, Form(max_length=100)],
    length: Annotated[str, Form(max_length=64)],
    start: Annotated[str, Form(max_length=30)] = "",
    schedule: Annotated[str, Form(max_length=255)] = "",
    tz: Annotated[str, Form(max_length=255)] = "UTC",
    tags: Annotated[str, Form(max_length=1000)] = "",
    queues: Annotated[str, Form(max_length=1000)] = "",
    why: Annotated[str, Form(max_length=1000)] = "",
    everything: Annotated[bool, Form()] = False,
    visitor: Visitor = visit(Permission.OPERATE),
) -> Response:
    """Add a window, or replace the one of this name."""
    operations = visitor.operations.maintenance
    recurs = schedule.strip()
    made = await (operations.put_all if everything else operations.put)(
        visitor.actor,
        name.strip(),
        Schedule(
            trigger=read_schedule(recurs, tz.strip() or "UTC") if recurs else None,
            start=parse_instant(start, visitor.zone, "start"),
            length=parse_duration(length.strip(), field="length"),
        ),
        why=why.strip(),
        tags=_words(tags),
        queues=_words(queues),
    )
    return redirect_with_toast(request, f"Saved {made.window.name}", PATH)


@router.post(f"{PATH}/{{name}}/end")
async def end(
    request: Request, name: str, visitor: Visitor = visit(Permission.OPERATE)
) -> Response:
    """End the time that is on."""
    await visitor.operations.maintenance.end(visitor.actor, name)
    return redirect_with_toast(request, f"Ended {name}", PATH)


@router.post(f"{PATH}/{{name}}/delete")
async def delete(
    request: Request, name: str, visitor: Visitor = visit(Permission.OPERATE)
) -> Response:
    """Delete a window of the project."""
    await visitor.operations.maintenance.delete(visitor.actor, name)
    return redirect_with_toast(request, f"Deleted {name}", PATH)


@router.post(f"/platform{PATH}/{{name}}/end")
async def end_of_all(
    request: Request, name: str, visitor: Visitor = visit(Permission.PLATFORM)
) -> Response:
    """End the time that is on of a window of all projects."""
    await visitor.operations.maintenance.end_all(visitor.actor, name)
    return redirect_with_toast(request, f"Ended {name}", PATH)


@router.post(f"/platform{PATH}/{{name}}/delete")
async def delete_of_all(
    request: Request, name: str, visitor: Visitor = visit(Permission.PLATFORM)
) -> Response:
    """Delete a window of all projects."""
    await visitor.operations.maintenance.delete_all(visitor.actor, name)
    return redirect_with_toast(request, f"Deleted {name}", PATH)


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",") if word.strip()]
