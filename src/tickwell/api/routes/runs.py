"""What is done with one job: pause, resume, trigger, backfill; its fire times and its history."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from tickwell.api import values
from tickwell.api.describe import described
from tickwell.api.filters import HistoryQuery, execution_filter
from tickwell.api.models import execution as runs
from tickwell.api.models import job as models
from tickwell.api.routes.jobs import changed_answer
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.documents import (
    backfill_document,
    completeness_document,
    definition_document,
    execution_document,
    instant_text,
    slots_document,
)
from tickwell.web import bodies
from tickwell.web.context import context_of
from tickwell.web.idempotency import key_of
from tickwell.web.json_response import answer, place
from tickwell.web.route_permission import allow

router = APIRouter(tags=["jobs"])


@router.post(
    "/jobs/{key}/pause",
    **described("pause_job", models.JobChanged, body=models.PauseBody, example={"note": "moving"}),
)
async def pause(request: Request, key: str, actor: Actor = allow(Permission.OPERATE)) -> Response:
    """Stop firing; what has not started is taken back, retries and requested runs are held."""
    context = context_of(request)
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        given = bodies.object_of(body, "note", "until")
        why, until = values.text(given.get("note"), "note"), given.get("until")
        changed = await context.operations.jobs.pause(
            actor, key, why=why, until=values.instant(until, "until")
        )
        return changed_answer(actor, changed)

    return await context.idempotency.once(request, actor, body, act)


@router.post("/jobs/{key}/resume", **described("resume_job", models.JobChanged))
async def resume(request: Request, key: str, actor: Actor = allow(Permission.OPERATE)) -> Response:
    """Fire again from now on; what the pause passed over is recorded as skipped."""
    context = context_of(request)
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        bodies.object_of(body)
        return changed_answer(actor, await context.operations.jobs.resume(actor, key))

    return await context.idempotency.once(request, actor, body, act)


@router.post(
    "/jobs/{key}/trigger",
    **described(
        "trigger_job",
        runs.Execution,
        status=202,
        body=runs.TriggerBody,
        example={"payload": {"to": "ops@example.com"}, "in": "10m"},
    ),
)
async def trigger(request: Request, key: str, actor: Actor = allow(Permission.OPERATE)) -> Response:
    """Run a job now, at an instant, or after a while; with its own payload or with another."""
    context = context_of(request)
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        given = bodies.object_of(body, "payload", "at", "in")
        executions = context.operations.executions
        execution = await executions.trigger(
            actor,
            key,
            payload=given.get("payload"),
            run_at=values.later(given.get("at"), given.get("in")),
            key=key_of(request),
        )
        headers = place(request, f"/executions/{execution.id}")
        # Who may run a job may be somebody who may not read it.
        may_read = Permission.READ in actor.permissions
        names = await executions.names(actor, [execution]) if may_read else {}
        document = execution_document(execution, names.get(execution.job_id))
        return answer(document, 202, headers)

    return await context.idempotency.once(request, actor, body, act)


@router.post(
    "/jobs/{key}/backfill",
    **described(
        "backfill_job",
        runs.Backfilled,
        status=202,
        body=runs.BackfillBody,
        example={"since": "2026-11-01T00:00:00Z", "until": "2026-11-02T00:00:00Z"},
        body_required=True,
    ),
)
async def backfill(
    request: Request, key: str, actor: Actor = allow(Permission.OPERATE)
) -> Response:
    """Run the past fire times of a range that have not run; forced, the others again as well.

    `dry_run` only counts them.
    """
    context = context_of(request)
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        given = bodies.object_of(body, "since", "until", "force", "dry_run")
        done = await context.operations.executions.backfill(
            actor,
            key,
            values.required_instant(given.get("since"), "since"),
            values.required_instant(given.get("until"), "until"),
            force=values.flag(given.get("force"), "force"),
            dry_run=values.flag(given.get("dry_run"), "dry_run"),
        )
        return answer(backfill_document(done), 202)

    return await context.idempotency.once(request, actor, body, act)


@router.get("/jobs/{key}/next", **described("next_fires", models.Fires))
async def next_fires(
    request: Request,
    key: str,
    count: Annotated[int, Query(ge=1, le=1000)] = 10,
    actor: Actor = allow(Permission.READ),
) -> Response:
    """The next fire times, as far as they are known."""
    fires = await context_of(request).operations.slots.next_fires(actor, key, count)
    return answer({"items": [instant_text(fire) for fire in fires]})


@router.get("/jobs/{key}/slots", **described("job_slots", runs.Slots))
async def slots(
    request: Request,
    key: str,
    since: Annotated[str, Query(json_schema_extra={"format": "date-time"})],
    until: Annotated[str, Query(json_schema_extra={"format": "date-time"})],
    actor: Actor = allow(Permission.READ),
) -> Response:
    """Every nominal fire time of a range with its answer, and how many were due and answered."""
    page, counted = await context_of(request).operations.slots.read(
        actor,
        key,
        values.required_instant(since, "since"),
        values.required_instant(until, "until"),
    )
    return answer({**await slots_document(page), "completeness": completeness_document(counted)})


@router.get("/jobs/{key}/versions", **described("job_versions", models.Versions))
async def versions(
    request: Request,
    key: str,
    cursor: Annotated[str | None, Query(max_length=1000)] = None,
    actor: Actor = allow(Permission.READ),
) -> Response:
    """The definitions that the job had, newest first: all of them, unless they are very large."""
    scope = ("versions", actor.project, key)
    context = context_of(request)
    before = context.cursors.open(cursor, *scope)
    page = await context.operations.slots.versions_page(actor, key, before)
    items = [
        {
            "version": job.version,
            "saved_at": instant_text(job.saved_at),
            "definition": definition_document(job),
        }
        for job in page.items
    ]
    return answer({"items": items, "next_cursor": context.cursors.seal(page.cursor, *scope)})


@router.get("/jobs/{key}/history", **described("job_history", runs.ExecutionPage))
async def history(
    request: Request,
    key: str,
    query: Annotated[HistoryQuery, Query()],
    actor: Actor = allow(Permission.READ),
) -> Response:
    """The executions of a job, newest first."""
    context = context_of(request)
    executions = context.operations.executions
    job = (await executions.job_of(actor, key)).job
    where = execution_filter(query, job.id)
    cursor = context.cursors.open(query.cursor, "executions", actor.project, where)
    page = await executions.list(actor, where, cursor, query.limit)
    items = [execution_document(each, job.name) for each in page.items]
    following = context.cursors.seal(page.cursor, "executions", actor.project, where)
    return answer({"items": items, "next_cursor": following})
