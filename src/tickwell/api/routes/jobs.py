"""Jobs: add, read, list, change, delete."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from tickwell.api.conditional import etag, expected_version
from tickwell.api.definitions import alike, definition, definitions, patch_of
from tickwell.api.describe import described
from tickwell.api.filters import JobQuery, job_filter
from tickwell.api.flat import takes_flat
from tickwell.api.models import job as models
from tickwell.domain.change import Changed
from tickwell.domain.document.initial_state import initial_state
from tickwell.domain.document.texts import texts_of
from tickwell.domain.job import Entry, Job
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.documents import changed_document, entry_document
from tickwell.services.operations.jobs import JobOperations
from tickwell.web import bodies, bounds
from tickwell.web.context import context_of
from tickwell.web.idempotency import is_sent_again
from tickwell.web.json_response import answer, answer_items, place, text_of
from tickwell.web.route_permission import allow

router = APIRouter(tags=["jobs"])

EXAMPLE = {
    "name": "daily-report",
    "trigger": {"cron": "0 9 * * mon-fri", "tz": "Europe/Rome"},
    "target": {"http": {"url": "https://example.com/hook"}},
    "retry": {"max_attempts": 5, "delay": "10s"},
}


@router.post(
    "/jobs",
    **described(
        "create_job",
        models.Job,
        status=201,
        body=models.NewJob,
        example=EXAMPLE,
        body_required=True,
    ),
)
async def create(request: Request, actor: Actor = allow(Permission.EDIT)) -> Response:
    """Add a job. One with a `dedupe_key` that is known is answered with 200, and not added."""
    context = context_of(request)
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        jobs = context.operations.jobs
        given, stated = _given(bodies.parsed(body), flat=takes_flat(request))
        state, again = initial_state(stated), is_sent_again(request)
        added = await jobs.create(actor, given, state=state, again=again, fresh=True)
        if not added.new:
            return await _job_answer(jobs, actor, added.entry)
        headers = place(request, f"/jobs/{added.entry.job.id}")
        return await _job_answer(jobs, actor, added.entry, 201, headers)

    return await context.idempotency.once(request, actor, body, act)


@router.post(
    "/jobs/batch",
    **described(
        "create_jobs",
        models.BatchDone,
        status=201,
        body=models.Batch,
        example={"jobs": [EXAMPLE | {"name": "weekly-report"}]},
        body_required=True,
    ),
)
async def create_many(request: Request, actor: Actor = allow(Permission.EDIT)) -> Response:
    """Add up to 1,000 jobs, all or none; what is wrong is said for each of them."""
    context = context_of(request)
    body = await bodies.read_bytes(request, bounds.MANY)

    async def act() -> Response:
        jobs = context.operations.jobs
        documents = bodies.object_of(body, "jobs").get("jobs")
        given, states = await definitions(documents, flat=takes_flat(request))
        again = is_sent_again(request)
        added = await jobs.create_many(actor, given, states=states, again=again, fresh=True)
        entries = [each.entry for each in added]
        warnings = await _warnings(jobs, actor, entries)
        more = {"new": [each.new for each in added], "warnings": warnings or []}
        return answer_items(_texts(actor, entries), more, 201)

    return await context.idempotency.once(request, actor, body, act)


@router.get("/jobs", **described("list_jobs", models.JobPage))
async def list_jobs(
    request: Request, query: Annotated[JobQuery, Query()], actor: Actor = allow(Permission.READ)
) -> Response:
    """Jobs by name."""
    where = job_filter(query.model_dump(exclude={"cursor", "limit", "state"}), query.state)
    context = context_of(request)
    cursor = context.cursors.open(query.cursor, "jobs", actor.project, where)
    page = await context.operations.jobs.list(actor, where, cursor, query.limit)
    items = [entry_document(entry) for entry in page.items]
    following = context.cursors.seal(page.cursor, "jobs", actor.project, where)
    return answer({"items": items, "next_cursor": following})


@router.get("/jobs/{key}", **described("get_job", models.Job))
async def show(request: Request, key: str, actor: Actor = allow(Permission.READ)) -> Response:
    """One job, by its name or id."""
    jobs = context_of(request).operations.jobs
    return await _job_answer(jobs, actor, await jobs.get(actor, key))


@router.put(
    "/jobs/{key}",
    **described(
        "replace_job",
        models.JobChanged,
        body=models.JobBody,
        example=EXAMPLE,
        body_required=True,
        if_match=True,
    ),
)
async def replace(request: Request, key: str, actor: Actor = allow(Permission.EDIT)) -> Response:
    """Put another definition in its place. What was read may be sent back, changed.

    A `state` that is not the job's is refused: pause or resume it.
    """
    flat = takes_flat(request)
    version = await expected_version(request, actor, key, required=not flat)
    document = await bodies.read_json(request)
    given, stated = definition(document, flat=flat, sent_back=True)
    jobs = context_of(request).operations.jobs
    changed = await jobs.replace(actor, key, given, version, stated=stated)
    return changed_answer(actor, changed, await _warnings(jobs, actor, [changed.entry]))


@router.patch(
    "/jobs/{key}",
    **described(
        "patch_job",
        models.JobChanged,
        body=models.JobPatch,
        example={"trigger": {"cron": "0 10 * * *"}},
        body_required=True,
        body_type="application/merge-patch+json",
        if_match=True,
    ),
)
async def patch(request: Request, key: str, actor: Actor = allow(Permission.EDIT)) -> Response:
    """Change some fields by a JSON merge patch; null gives a field its default back."""
    flat = takes_flat(request)
    version = await expected_version(request, actor, key, required=not flat)
    given, stated = patch_of(await bodies.read_json(request), flat=flat)
    jobs = context_of(request).operations.jobs
    changed = await jobs.patch(actor, key, given, version, stated=stated)
    return changed_answer(actor, changed, await _warnings(jobs, actor, [changed.entry]))


@router.delete("/jobs/{key}", **described("delete_job", models.JobChanged, if_match=False))
async def delete(request: Request, key: str, actor: Actor = allow(Permission.EDIT)) -> Response:
    """Take a job away; its history stays until retention ends."""
    version = await expected_version(request, actor, key)
    jobs = context_of(request).operations.jobs
    changed = await jobs.delete(actor, key, version)
    return answer(changed_document(changed, _document_for(actor)))


def _given(document: Any, *, flat: bool) -> tuple[Job, dict[str, Any]]:
    return definition(document, flat=True) if flat else alike(document)


async def _job_answer(
    jobs: JobOperations,
    actor: Actor,
    entry: Entry,
    status: int = 200,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """A job with its tag and warnings, as far as the actor may read it."""
    document = _document_for(actor, await _warnings(jobs, actor, [entry]))(entry)
    return answer(document, status, {"etag": etag(entry.job.version), **(headers or {})})


def changed_answer(
    actor: Actor, changed: Changed, warnings: Sequence[str] | None = None
) -> Response:
    """A changed job with its new tag, as far as the actor may read it."""
    document: dict[str, Any] = changed_document(changed, _document_for(actor, warnings))
    return answer(document, headers={"etag": etag(changed.entry.job.version)})


def _document_for(
    actor: Actor, warnings: Sequence[str] | None = None
) -> Callable[[Entry], dict[str, Any]]:
    if Permission.READ not in actor.permissions:
        return _brief
    return partial(entry_document, warnings=warnings)


async def _warnings(
    jobs: JobOperations, actor: Actor, entries: Sequence[Entry]
) -> Sequence[str] | None:
    if Permission.READ not in actor.permissions:
        return None
    return await jobs.warnings(actor, [entry.job for entry in entries])


def _texts(actor: Actor, entries: Sequence[Entry]) -> list[str]:
    """The documents of jobs that were added together, as JSON."""
    if Permission.READ not in actor.permissions:
        return [text_of(_brief(entry)) for entry in entries]
    return texts_of(entries, entry_document, text_of)


def _brief(entry: Entry) -> dict[str, Any]:
    """What an actor learns of a job that it may change and not read."""
    job = entry.job
    return {
        "id": job.id,
        "project": job.project,
        "version": job.version,
        "state": entry.cursor.state.value,
    }
