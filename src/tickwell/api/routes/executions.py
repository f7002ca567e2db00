"""Executions."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from tickwell.api.describe import described
from tickwell.api.filters import ExecutionQuery, OutputQuery, execution_filter
from tickwell.api.models import execution as models
from tickwell.domain.execution import Execution
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.documents import (
    execution_document,
    notes_document,
    tail_document,
    whole_document,
)
from tickwell.web import bodies
from tickwell.web.context import context_of
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow

router = APIRouter(tags=["executions"])


@router.get("/executions", **described("list_executions", models.ExecutionPage))
async def list_executions(
    request: Request,
    query: Annotated[ExecutionQuery, Query()],
    actor: Actor = allow(Permission.READ),
) -> Response:
    """Executions, newest first."""
    context = context_of(request)
    executions = context.operations.executions
    job_id = None
    if query.job is not None:
        job_id = (await executions.job_of(actor, query.job)).job.id
    where = execution_filter(query, job_id, query.queue)
    cursor = context.cursors.open(query.cursor, "executions", actor.project, where)
    page = await executions.list(actor, where, cursor, query.limit)
    names = await executions.names(actor, page.items)
    items = [execution_document(each, names.get(each.job_id)) for each in page.items]
    following = context.cursors.seal(page.cursor, "executions", actor.project, where)
    return answer({"items": items, "next_cursor": following})


@router.get("/executions/{id}", **described("get_execution", models.Execution))
async def show(request: Request, id: str, actor: Actor = allow(Permission.READ)) -> Response:
    """One execution with its attempts, how far it is, and what its attempts printed and logged."""
    execution = await context_of(request).operations.executions.get(actor, id)
    return answer(await _whole(request, actor, execution))


@router.get("/executions/{id}/output", **described("get_output", models.OutputPage))
async def output(
    request: Request,
    id: str,
    query: Annotated[OutputQuery, Query()],
    actor: Actor = allow(Permission.READ),
) -> Response:
    """Lines that its attempts printed and logged, from one on, also while they run."""
    executions = context_of(request).operations.executions
    return answer(tail_document(await executions.tail(actor, id, query.attempt, query.line)))


@router.post("/executions/{id}/cancel", **described("cancel_execution", models.Execution))
async def cancel(request: Request, id: str, actor: Actor = allow(Permission.OPERATE)) -> Response:
    """End it if it is pending; ask its worker to stop if it is running."""
    context = context_of(request)
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        bodies.object_of(body)
        execution = await context.operations.executions.cancel(actor, id)
        return answer(await _whole(request, actor, execution))

    return await context.idempotency.once(request, actor, body, act)


@router.post(
    "/executions/{id}/revive",
    **described("revive_execution", models.Execution, body=models.ReviveBody, example={}),
)
async def revive(request: Request, id: str, actor: Actor = allow(Permission.OPERATE)) -> Response:
    """A dead one runs again under its id; with another payload, as a new execution."""
    context = context_of(request)
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        given = bodies.object_of(body, "payload")
        executions = context.operations.executions
        if "payload" in given:
            execution = await executions.revive_edited(actor, id, given["payload"])
        else:
            execution = await executions.revive(actor, id)
        return answer(await _whole(request, actor, execution))

    return await context.idempotency.once(request, actor, body, act)


#: What an actor does not learn of an execution that it may change and not read.
_UNREAD: dict[str, Any] = {"payload": None, "result": None, "error": None, "attempts": []}


async def _whole(request: Request, actor: Actor, execution: Execution) -> dict[str, Any]:
    if Permission.READ not in actor.permissions:  # and yet they may have changed it
        return whole_document(execution, None) | _UNREAD | notes_document(None, ())
    executions = context_of(request).operations.executions
    jobs = await executions.jobs(actor, [execution])
    document = whole_document(execution, jobs.get(execution.job_id))
    return document | notes_document(*await executions.notes(actor, execution.id))
