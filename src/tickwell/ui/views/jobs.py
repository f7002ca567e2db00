"""The list of jobs: search as one types, facets, and actions on many at once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Annotated
from urllib.parse import parse_qsl, urlencode

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse, JSONResponse
from markupsafe import Markup

from tickwell.clock import NEVER
from tickwell.domain.job import Entry, JobState
from tickwell.errors import InvalidInput
from tickwell.ports.records import JobFilter
from tickwell.services.access.actor import Permission
from tickwell.services.operations.bulk import Bulk, Chosen
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.svg.strips import sparkline
from tickwell.ui.visitor import Visitor, visit

PAGE = 50
NAMES = 8
#: Sorted by when they fire next; else by name.
NEXT = "next"
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
    sort: Text = "",
    cursor: str | None = None,
    visitor: Visitor = visit(Permission.READ),
) -> HTMLResponse:
    """A page of the list; the address holds the whole view, so it can be kept and sent."""
    view = {"q": q, "state": state, "queue": queue, "tag": tag, "sort": sort}
    where = _filter(view)
    scope = visitor.actor.project, "jobs", where
    cursors = visitor.context.cursors
    after = cursors.open(cursor, *scope)
    found = await visitor.operations.jobs.list(visitor.actor, where, after, PAGE)
    return page(
        request,
        visitor,
        "jobs.html",
        entries=found.items,
        latest=await _latest(visitor, found.items),
        view=view,
        states=STATES,
        query=_query(view),
        address=partial(_address, view),
        next=cursors.seal(found.cursor, *scope),
    )


@router.get("/jobs/names")
async def names(q: Text = "", visitor: Visitor = visit(Permission.READ)) -> JSONResponse:
    """The first few whose name holds the text, for the palette."""
    where = JobFilter(search=q or None)
    found = await visitor.operations.jobs.list(visitor.actor, where, None, NAMES)
    return JSONResponse([{"id": each.job.id, "name": each.job.name} for each in found.items])


@router.get("/jobs/count")
async def count(request: Request, visitor: Visitor = visit(Permission.OPERATE)) -> JSONResponse:
    """How many jobs an action on all that match would meet."""
    where = _filter(dict(request.query_params))
    found = await visitor.operations.bulk.trigger(visitor.actor, where, dry_run=True)
    return JSONResponse({"count": len(found.matched), "more": found.more})


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
    message = f"{found.changed:,} of {len(found.matched):,} jobs {verb[action]}"
    if found.refused:
        message += f"; {next(iter(found.refused.values()))}"
    undo = None
    if action in {"pause", "resume"}:
        undo = await visitor.operations.undo.keep(visitor.actor, found)
    return redirect_with_toast(request, message, undo=undo)


@router.post("/jobs/undo")
async def undo(
    request: Request,
    id: Annotated[str, Form(max_length=36)],
    visitor: Visitor = visit(Permission.OPERATE),
) -> Response:
    """Put back what a pause or a resumption of many has changed."""
    found = await visitor.operations.undo.undo(visitor.actor, id)
    return redirect_with_toast(request, f"{found:,} {'job' if found == 1 else 'jobs'} restored")


async def _act(visitor: Visitor, action: str, where: Chosen) -> Bulk:
    operations, actor = visitor.operations.bulk, visitor.actor
    match action:
        case "pause":
            return await operations.pause(actor, where, dry_run=False, why="on the jobs page")
        case "resume":
            return await operations.resume(actor, where, dry_run=False)
        case "trigger":
            return await operations.trigger(actor, where, dry_run=False)
        case "delete":
            return await operations.delete(actor, where, dry_run=False)
    raise InvalidInput(f"{action[:20]!r} is not an action", field="action")


def _chosen(ids: list[str], matching: str) -> Chosen:
    """All that match the view that the form came from, or those with a mark."""
    return _filter(dict(parse_qsl(matching))) if matching else ids


async def _latest(visitor: Visitor, entries: Sequence[Entry]) -> dict[str, Markup]:
    """How the latest executions of each job went, as a small picture."""
    ids = [entry.job.id for entry in entries]
    found = await visitor.operations.insights.latest(visitor.actor, ids)
    return {id: sparkline(found[id]) for id in ids}


def _query(view: dict[str, str]) -> str:
    return urlencode({name: value for name, value in view.items() if value})


def _address(view: dict[str, str], **changes: str) -> str:
    """This view with some of it changed."""
    return f"/jobs?{query}" if (query := _query(view | changes)) else "/jobs"


def _filter(view: dict[str, str]) -> JobFilter:
    state = view.get("state", "")
    if state and state not in STATES:
        raise InvalidInput(f"{state[:20]!r} is not a job state", field="state")
    return JobFilter(
        states=frozenset({JobState(state)}) if state else frozenset(STATES),
        search=view.get("q") or None,
        queue=view.get("queue") or None,
        tag=view.get("tag") or None,
        fires_before=NEVER if view.get("sort") == NEXT else None,
    )
