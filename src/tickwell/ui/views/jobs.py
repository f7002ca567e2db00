"""The list of jobs: search as one types, facets, and actions on many at once."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse

from tickwell.api.paging import opened, sealed
from tickwell.domain.job import JobState
from tickwell.errors import InvalidInput
from tickwell.ports.records import JobFilter
from tickwell.services.access.permission import Permission
from tickwell.services.operations.bulk import Bulk, Chosen
from tickwell.ui.answers import done
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

PAGE = 50
NAMES = 8
STATES = (JobState.ACTIVE, JobState.PAUSED, JobState.FINISHED)

router = APIRouter(include_in_schema=False)

Text = Annotated[str, Query(max_length=255)]


@router.get("/jobs")
async def jobs(
    request: Request,
    *,
    q: Text = "",
    state: Text = "",
    queue: Text = "",
    tag: Text = "",
    cursor: str | None = None,
    visitor: Visitor = visit(Permission.READ),
) -> HTMLResponse:
    """A page of the list; the address holds the whole view, so it can be kept and sent."""
    view = {"q": q, "state": state, "queue": queue, "tag": tag}
    where = _filter(view)
    scope = visitor.actor.project, "jobs", where
    found = await visitor.operations.jobs.list(visitor.actor, where, opened(cursor, *scope), PAGE)
    return page(
        request,
        visitor,
        "jobs.html",
        entries=found.items,
        view=view,
        states=STATES,
        query=urlencode({name: value for name, value in view.items() if value}),
        next=sealed(found.cursor, *scope),
    )


@router.get("/jobs/names")
async def names(q: Text = "", visitor: Visitor = visit(Permission.READ)) -> JSONResponse:
    """The first few whose name holds the text, for the palette."""
    where = JobFilter(search=q or None)
    found = await visitor.operations.jobs.list(visitor.actor, where, None, NAMES)
    return JSONResponse([{"id": each.job.id, "name": each.job.name} for each in found.items])


@router.post("/jobs/bulk")
async def bulk(
    request: Request,
    action: Annotated[str, Form()],
    ids: Annotated[list[str] | None, Form()] = None,
    matching: Annotated[str, Form(max_length=2000)] = "",
    visitor: Visitor = visit(Permission.OPERATE),
) -> Response:
    """Pause, resume, trigger or delete the chosen jobs, or all that match the view."""
    found = await _act(visitor, action, _chosen(ids or [], matching))
    verb = {"pause": "paused", "resume": "resumed", "trigger": "triggered", "delete": "deleted"}
    said = f"{found.changed:,} of {len(found.matched):,} jobs {verb[action]}"
    if found.refused:
        said += f"; {next(iter(found.refused.values()))}"
    return done(request, said)


async def _act(visitor: Visitor, action: str, where: Chosen) -> Bulk:
    operations, actor = visitor.operations.bulk, visitor.actor
    match action:
        case "pause":
            return await operations.pause(actor, where, dry_run=False, why="from the list of jobs")
        case "resume":
            return await operations.resume(actor, where, dry_run=False)
        case "trigger":
            return await operations.trigger(actor, where, dry_run=False)
        case "delete":
            return await operations.delete(actor, where, dry_run=False)
    raise InvalidInput(f"{action[:20]!r} is no action", field="action")


def _chosen(ids: list[str], matching: str) -> Chosen:
    """All that match the view that the form came from, or those with a mark."""
    return _filter(dict(parse_qsl(matching))) if matching else ids


def _filter(view: dict[str, str]) -> JobFilter:
    state = view.get("state", "")
    if state and state not in STATES:
        raise InvalidInput(f"{state[:20]!r} is no state of a job", field="state")
    return JobFilter(
        states=frozenset({JobState(state)}) if state else frozenset(STATES),
        search=view.get("q") or None,
        queue=view.get("queue") or None,
        tag=view.get("tag") or None,
    )
