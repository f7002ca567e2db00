"""Executions: the list, and one of them with all its attempts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.domain.ability import is_call
from tickwell.domain.execution import LIVE, Execution, State
from tickwell.domain.note import Output
from tickwell.domain.step import CHECKPOINT, WAIT, is_step, wait_of
from tickwell.errors import InvalidInput, NotFound
from tickwell.ids import trace_id
from tickwell.ports.records import ExecutionFilter
from tickwell.services.access.actor import Permission
from tickwell.services.documents import deadlines
from tickwell.ui.form_fields import parse_json
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.request_preview import curl, headers_of
from tickwell.ui.svg.attempts import attempts_chart
from tickwell.ui.visitor import Visitor, visit

PAGE = 50

router = APIRouter(include_in_schema=False)

Text = Annotated[str, Query(max_length=255)]


@router.get("/executions")
async def executions(
    request: Request,
    *,
    state: Text = "",
    job: Text = "",
    queue: Text = "",
    cursor: str | None = None,
    visitor: Visitor = visit(Permission.READ),
) -> HTMLResponse:
    """Newest first, of all jobs or of one."""
    operations, actor = visitor.operations.executions, visitor.actor
    entry = await operations.job_of(actor, job) if job else None
    where = ExecutionFilter(
        job_id=entry.job.id if entry else None,
        states=frozenset({_state(state)}) if state else None,
        queue=queue or None,
    )
    scope = actor.project, "executions", where
    cursors = visitor.context.cursors
    found = await operations.list(actor, where, cursors.open(cursor, *scope), PAGE)
    view = {"state": state, "job": job, "queue": queue}
    return page(
        request,
        visitor,
        "executions.html",
        executions=found.items,
        names=await operations.names(actor, found.items),
        job=entry.job if entry else None,
        view=view,
        states=tuple(State),
        query=urlencode({name: value for name, value in view.items() if value}),
        next=cursors.seal(found.cursor, *scope),
    )


@router.get("/executions/{id}")
async def execution(
    request: Request, id: str, visitor: Visitor = visit(Permission.READ)
) -> HTMLResponse:
    """What happened, attempt by attempt."""
    operations, actor = visitor.operations.executions, visitor.actor
    found = await operations.get(actor, id)
    try:
        job = (await operations.job_of(actor, found.job_id)).job
    except NotFound:  # pruned meanwhile
        job = None
    progress, outputs = await operations.notes(actor, found.id)
    steps = await operations.steps(actor, found.id)
    soft, hard = deadlines(found, job)
    return page(
        request,
        visitor,
        "execution.html",
        execution=found,
        job=job,
        live=found.state in LIVE,
        chart=attempts_chart(found, visitor.now),
        progress=progress if found.state is State.RUNNING else None,
        soft=soft,
        hard=hard,
        steps=[one for one in steps if is_step(one)],
        waits=[wait_of(one) for one in steps if one.name.startswith(WAIT)],
        checkpoint=next((one for one in steps if one.name == CHECKPOINT), None),
        outputs=[*outputs, *_awaited(found, outputs)],
        responses=[one for one in found.attempts if _is_response(one.result)],
        sent=headers_of(found, job),
        trace=trace_id(found.id),
        curl=curl(found, job),
    )


@router.get("/executions/{id}/log")
async def log(
    request: Request,
    id: str,
    attempt: Annotated[int, Query(ge=1)],
    line: Annotated[int, Query(ge=0)] = 0,
    visitor: Visitor = visit(Permission.READ),
) -> Response:
    """The lines of one attempt, once there are more than the page has or it has ended."""
    operations, actor = visitor.operations.executions, visitor.actor
    found = await operations.get(actor, id)
    runs = found.state is State.RUNNING and found.attempt == attempt
    tail = await operations.tail(actor, id, attempt, line)
    if runs and not any(each.attempt == attempt for each in tail.outputs):
        return Response(status_code=204)
    _, outputs = await operations.notes(actor, found.id)
    known = {each.attempt: each for each in outputs}
    output = known.get(attempt, Output(attempt=attempt, lines=()))
    return page(request, visitor, "log.html", execution=found, output=output)


@router.post("/executions/{id}/answer")
async def answer(
    request: Request,
    id: str,
    name: Annotated[str, Form(max_length=255)],
    answer: Annotated[str, Form()] = "true",
    visitor: Visitor = visit(Permission.OPERATE),
) -> Response:
    """Answer what it waits for."""
    value = parse_json(answer, "answer")
    await visitor.operations.executions.answer(visitor.actor, id, name, value)
    return redirect_with_toast(request, "Answered", _path(id))


@router.post("/executions/{id}/cancel")
async def cancel(
    request: Request, id: str, visitor: Visitor = visit(Permission.OPERATE)
) -> Response:
    """End it if it is pending; ask its worker to stop if it is running."""
    found = await visitor.operations.executions.cancel(visitor.actor, id)
    ended = found.state is State.CANCELLED
    return redirect_with_toast(
        request, "Cancelled" if ended else "Cancellation requested", _path(id)
    )


@router.post("/executions/{id}/revive")
async def revive(
    request: Request,
    id: str,
    payload: Annotated[str, Form(max_length=65_536)] = "",
    visitor: Visitor = visit(Permission.OPERATE),
) -> Response:
    """Run a dead one again under its id; with another payload, as a new one."""
    operations, other = visitor.operations.executions, parse_json(payload, "payload")
    if other is None:
        found = await operations.revive(visitor.actor, id)
    else:
        found = await operations.revive_edited(visitor.actor, id, other)
    return redirect_with_toast(request, "Revived", _path(found.id))


def _awaited(execution: Execution, outputs: Sequence[Output]) -> list[Output]:
    """The output of a handler that runs and has printed nothing so far."""
    runs = execution.state is State.RUNNING and is_call(execution.ability)
    if not runs or any(each.attempt == execution.attempt for each in outputs):
        return []
    return [Output(attempt=execution.attempt, lines=())]


def _is_response(result: Any) -> bool:
    return isinstance(result, dict) and isinstance(result.get("status"), int)


def _state(text: str) -> State:
    try:
        return State(text)
    except ValueError:
        raise InvalidInput(f"{text[:20]!r} is not a state", field="state") from None


def _path(id: str) -> str:
    return f"/executions/{id}"
