"""Operations on jobs: define, read, change, pause and run them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any

from tickwell.domain.change import Changed
from tickwell.domain.document.initial_state import initial_state
from tickwell.domain.job import Entry, Job, JobState
from tickwell.domain.unique import Uniqueness, uniqueness
from tickwell.errors import InvalidInput, InvalidJob
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.services.access.actor import Permission
from tickwell.services.callbacks.callback import CallbackEvent
from tickwell.services.documents import (
    backfill_document,
    changed_document,
    completeness_document,
    definition_document,
    entry_document,
    execution_document,
    instant_text,
    slots_document,
    unread,
)
from tickwell.services.jobs.skips import Skipped
from tickwell.services.operations.declaration import Answer, Call, Document, Group, Many
from tickwell.services.operations.flat_bodies import CALLBACKS, named_as_sent, take_callbacks
from tickwell.services.operations.job_bodies import alike, definition, definitions, patch_of
from tickwell.services.operations.records import execution as runs
from tickwell.services.operations.records import job as records
from tickwell.services.operations.records import occurrence as occurrences
from tickwell.services.operations.records import service as service_records
from tickwell.services.time import After, Moment

if TYPE_CHECKING:
    from tickwell.services.callbacks.callbacks import Callbacks

GROUP = Group("jobs")
EXAMPLE = {
    "name": "daily-report",
    "trigger": {"cron": "0 9 * * mon-fri", "tz": "Europe/Rome"},
    "target": {"http": {"url": "https://example.com/hook"}},
    "retry": {"max_attempts": 5, "delay": "10s"},
}


@GROUP.post(
    "/jobs",
    Permission.EDIT,
    records.Job,
    status=201,
    audit="job.create",
    whole_body=records.NewJob,
    argument="definition",
    example=EXAMPLE,
)
async def create_job(call: Call) -> Answer:
    """Add a job. If its `dedupe_key` exists, return the existing job with status 200."""
    callbacks = dict[str, str]()
    if call.flat:
        call.document, callbacks = take_callbacks(call.document)
    if callbacks:
        call.actor.require(Permission.ADMINISTER)
    admin = call.admin if callbacks else None  # without user management nothing is added
    job, stated = _read(call.document, flat=call.flat)
    with named_as_sent(call.document, flat=call.flat):
        added = await call.use.jobs.create(
            call.actor, job, state=initial_state(stated), again=call.sent_again, fresh=True
        )
    if added.new and admin is not None:
        await _add_callbacks(call, admin.callbacks, added.entry.job, callbacks)
    answer = await _job_answer(call, added.entry)
    if not added.new:
        answer.status = 200
        return answer
    answer.location = f"/jobs/{added.entry.job.id}"
    return answer


@GROUP.post(
    "/jobs/batch",
    Permission.EDIT,
    records.BatchDone,
    status=201,
    audit="job.create_many",
    whole_body=records.Batch,
    argument="definitions",
    example={"jobs": [EXAMPLE | {"name": "weekly-report"}]},
    is_large=True,
)
async def create_jobs(call: Call) -> Answer:
    """Add up to 1,000 jobs, all or none; the errors of every job are reported."""
    documents = _batch(call.document)
    jobs, states = await definitions(documents, flat=call.flat)
    added = await call.use.jobs.create_many(
        call.actor, jobs, states=states, again=call.sent_again, fresh=True
    )
    entries = [each.entry for each in added]
    warnings = await _warnings(call, entries)
    more = {"new": [each.new for each in added], "warnings": [*(warnings or ())]}
    write = entry_document if Permission.READ in call.actor.permissions else _brief
    return Answer(Many(entries, write, more))


@GROUP.get("/jobs", Permission.READ, records.JobPage)
async def list_jobs(call: Call, query: service_records.JobQuery) -> Document:
    """List jobs by name."""
    where = job_filter(query, query.state)
    scope = ("jobs", call.actor.project, where)
    after = call.open_cursor(query.cursor, *scope)
    page = await call.use.jobs.list(call.actor, where, after, query.limit)
    items = [entry_document(entry) for entry in page.items]
    return {"items": items, "next_cursor": call.seal_cursor(page.cursor, *scope)}


@GROUP.get("/jobs/{key}", Permission.READ, records.Job)
async def get_job(call: Call, key: str) -> Answer:
    """Read one job, by its name or id."""
    return await _job_answer(call, await call.use.jobs.get(call.actor, key))


@GROUP.put(
    "/jobs/{key}",
    Permission.EDIT,
    records.JobChanged,
    audit="job.replace",
    whole_body=records.JobBody,
    argument="definition",
    example=EXAMPLE,
    if_match=True,
)
async def replace_job(call: Call, key: str) -> Answer:
    """Replace the definition of a job. A document that was read may be changed and sent back.

    A `state` that differs from the job's is refused: pause or resume the job instead.
    """
    job, stated = definition(call.document, flat=call.flat, sent_back=True)
    enabled = _take_enabled(call, stated)
    with named_as_sent(call.document, flat=call.flat):
        changed = await call.use.jobs.replace(call.actor, key, job, call.version, stated=stated)
    changed = await _enable(call, changed, enabled=enabled)
    return _changed(call, changed, await _warnings(call, [changed.entry]))


@GROUP.patch(
    "/jobs/{key}",
    Permission.EDIT,
    records.JobChanged,
    audit="job.patch",
    whole_body=records.JobPatch,
    argument="patch",
    example={"trigger": {"cron": "0 10 * * *"}},
    body_type="application/merge-patch+json",
    if_match=True,
)
async def patch_job(call: Call, key: str) -> Answer:
    """Change fields of a job by a JSON merge patch; null restores a field's default."""
    patch, stated = patch_of(call.document, flat=call.flat)
    enabled = _take_enabled(call, stated)
    with named_as_sent(call.document, flat=call.flat):
        changed = await call.use.jobs.patch(call.actor, key, patch, call.version, stated=stated)
    changed = await _enable(call, changed, enabled=enabled)
    return _changed(call, changed, await _warnings(call, [changed.entry]))


@GROUP.delete(
    "/jobs/{key}", Permission.EDIT, records.JobChanged, audit="job.delete", if_match=False
)
async def delete_job(call: Call, key: str) -> Document:
    """Delete a job; its history remains until retention ends."""
    changed = await call.use.jobs.delete(call.actor, key, call.version)
    return changed_document(changed, _writer(call))


@GROUP.post(
    "/jobs/{key}/pause",
    Permission.OPERATE,
    records.JobChanged,
    audit="job.pause",
    example={"note": "moving"},
    body_required=False,
)
async def pause_job(call: Call, key: str, body: records.PauseBody) -> Answer:
    """Pause a job until it is resumed or until an instant; waiting executions are withdrawn."""
    changed = await call.use.jobs.pause(call.actor, key, why=body.note, until=body.until)
    return _changed(call, changed)


@GROUP.post("/jobs/{key}/resume", Permission.OPERATE, records.JobChanged, audit="job.resume")
async def resume_job(call: Call, key: str) -> Answer:
    """Resume a job; fire times during the pause are recorded as skipped."""
    return _changed(call, await call.use.jobs.resume(call.actor, key))


@GROUP.post(
    "/jobs/{key}/skip",
    Permission.OPERATE,
    occurrences.OccurrenceSkipped,
    audit="job.skip",
    example={"at": "2036-01-01T09:00:00Z", "note": "the receiver is being moved"},
    positional=("at",),
)
async def skip_occurrence(call: Call, key: str, body: occurrences.SkipBody) -> Document:
    """Skip one occurrence of a job in advance; its slot records who skipped it and why."""
    done = await call.use.slots.skip(call.actor, key, body.at, why=body.note)
    return _occurrence(done, skipped=True)


@GROUP.post(
    "/jobs/{key}/unskip",
    Permission.OPERATE,
    occurrences.OccurrenceSkipped,
    audit="job.unskip",
    example={"at": "2036-01-01T09:00:00Z"},
    positional=("at",),
)
async def unskip_occurrence(call: Call, key: str, body: occurrences.UnskipBody) -> Document:
    """Undo the skip of an occurrence, until its fire time has come."""
    done = await call.use.slots.unskip(call.actor, key, body.at)
    return _occurrence(done, skipped=False)


@GROUP.post(
    "/jobs/{key}/trigger",
    Permission.OPERATE,
    runs.Execution,
    status=202,
    audit="job.trigger",
    example={"payload": {"to": "ops@example.com"}, "in": "10m"},
    body_required=False,
    positional=("payload",),
)
async def trigger_job(call: Call, key: str, body: runs.TriggerBody) -> Answer:
    """Run a job now, at an instant, or after a delay; with its own payload or with another.

    `is_new` is false where the request found the same run, by its key, `unless` or `debounce`.
    """
    execution = await call.use.executions.trigger(
        call.actor,
        key,
        payload=body.payload,
        run_at=_run_at(body),
        key=call.idempotency_key,
        unique=_unique(body),
    )
    # A key may be allowed to run a job and not to read it.
    may_read = Permission.READ in call.actor.permissions
    names = await call.use.executions.names(call.actor, [execution]) if may_read else {}
    document = execution_document(execution, names.get(execution.job_id))
    # One that is not new may have ended since, with a result.
    document = document if may_read else unread(document)
    document["is_new"] = execution.is_new
    return Answer(document, location=f"/executions/{execution.id}", replayed=not execution.is_new)


@GROUP.post(
    "/jobs/{key}/backfill",
    Permission.OPERATE,
    runs.Backfilled,
    status=202,
    audit="job.backfill",
    example={"since": "2026-11-01T00:00:00Z", "until": "2026-11-02T00:00:00Z"},
)
async def backfill_job(call: Call, key: str, body: runs.BackfillBody) -> Document:
    """Run the past fire times of a range that have not run; with `force`, the others again too.

    `dry_run` only counts them. `next` is where to continue.
    """
    done = await call.use.executions.backfill(
        call.actor, key, body.since, body.until, force=body.force, dry_run=body.dry_run
    )
    return backfill_document(done)


@GROUP.get("/jobs/{key}/next", Permission.READ, occurrences.Fires)
async def next_fires(call: Call, key: str, query: service_records.CountQuery) -> Document:
    """Preview the next fire times, as far as they are known; `skipped` names those skipped."""
    fires, skipped = await call.use.slots.next_fires(call.actor, key, query.count)
    return {"items": [*map(instant_text, fires)], "skipped": [*map(instant_text, skipped)]}


@GROUP.get("/jobs/{key}/slots", Permission.READ, runs.Slots)
async def job_slots(call: Call, key: str, query: service_records.RangeQuery) -> Document:
    """List every nominal fire time of a range with its answer, and count them."""
    page, counted = await call.use.slots.read(call.actor, key, query.since, query.until)
    return {**await slots_document(page), "completeness": completeness_document(counted)}


@GROUP.get("/jobs/{key}/versions", Permission.READ, records.Versions)
async def job_versions(call: Call, key: str, query: service_records.CursorQuery) -> Document:
    """List the job's definitions, newest first; all of them, unless they are very large."""
    scope = ("versions", call.actor.project, key)
    before = call.open_cursor(query.cursor, *scope)
    page = await call.use.slots.versions_page(call.actor, key, before)
    return {
        "items": [_version(job) for job in page.items],
        "next_cursor": call.seal_cursor(page.cursor, *scope),
    }


@GROUP.get("/jobs/{key}/history", Permission.READ, runs.ExecutionPage)
async def job_history(call: Call, key: str, query: service_records.HistoryQuery) -> Document:
    """List the executions of a job, newest first."""
    job = (await call.use.executions.job_of(call.actor, key)).job
    where = execution_filter(query, job.id)
    scope = ("executions", call.actor.project, where)
    after = call.open_cursor(query.cursor, *scope)
    page = await call.use.executions.list(call.actor, where, after, query.limit)
    items = [execution_document(each, job.name) for each in page.items]
    return {"items": items, "next_cursor": call.seal_cursor(page.cursor, *scope)}


async def _add_callbacks(
    call: Call, callbacks: Callbacks, job: Job, addresses: dict[str, str]
) -> None:
    """Those that came with a new job; if one is refused, all of it goes again."""
    made = list[str]()
    for name, url in addresses.items():
        events = frozenset(map(CallbackEvent, CALLBACKS[name]))
        try:
            new = await callbacks.create(call.actor, url, events, job.id)
        except InvalidInput as error:
            for id in made:
                await callbacks.delete(call.actor, id)
            await call.use.jobs.delete(call.actor, job.id)
            raise InvalidJob(error.reason, field=f"webhooks.{name}", hint=error.hint) from None
        made.append(new.callback.id)


def _take_enabled(call: Call, stated: dict[str, Any]) -> bool | None:
    """What `enabled` of a flat body asks for; of an actor that may not pause it is only checked."""
    initial_state(stated)
    if Permission.OPERATE not in call.actor.permissions:
        return None
    enabled: bool | None = stated.pop("enabled", None)
    return enabled


async def _enable(call: Call, changed: Changed, *, enabled: bool | None) -> Changed:
    """Pause or resume a job that was edited, if it is not so."""
    job, is_paused = changed.entry.job, changed.entry.cursor.state is JobState.PAUSED
    if enabled is not is_paused:  # as it should be, or not said
        return changed
    if enabled:
        after = await call.use.jobs.resume(call.actor, job.id)
    else:
        after = await call.use.jobs.pause(call.actor, job.id)
    return replace(
        after,
        withdrawn=changed.withdrawn + after.withdrawn,
        cancelling=changed.cancelling + after.cancelling,
    )


def job_filter(query: Any, states: Sequence[str]) -> JobFilter:
    """The filter of a query, or of a bulk operation."""
    fields = {name: getattr(query, name) for name in ("queue", "tag", "app", "search")}
    if not states:
        return JobFilter(**fields)
    return JobFilter(**fields, states=frozenset(map(JobState, states)))


def execution_filter(
    query: service_records.HistoryQuery, job_id: str | None, queue: str | None = None
) -> ExecutionFilter:
    """The filter of a query."""
    return ExecutionFilter(
        job_id=job_id,
        states=frozenset(query.state) or None,
        kind=query.kind,
        queue=queue,
        since=query.since,
        until=query.until,
    )


def _read(document: Any, *, flat: bool) -> tuple[Job, dict[str, Any]]:
    return definition(document, flat=True) if flat else alike(document)


def _batch(document: Any) -> Any:
    if not isinstance(document, dict):
        raise InvalidInput("the body must be an object")
    for name in document:
        if name != "jobs":
            raise InvalidInput("unknown field", field=name, hint="Expected jobs")
    return document.get("jobs")


def _run_at(body: runs.TriggerBody) -> Moment | None:
    if body.at is not None and body.in_ is not None:
        raise InvalidInput("`at` and `in` are mutually exclusive", field="in")
    return body.at if body.in_ is None else After(body.in_)


def _unique(body: runs.TriggerBody) -> Uniqueness | None:
    names = ("unless", "unique_key", "debounce", "debounce_max")
    return uniqueness({name: getattr(body, name) for name in names})


async def _job_answer(call: Call, entry: Entry) -> Answer:
    """A job with its version and warnings, as far as the actor may read it."""
    document = _writer(call, await _warnings(call, [entry]))(entry)
    return Answer(document, version=entry.job.version)


def _changed(call: Call, changed: Changed, warnings: Sequence[str] | None = None) -> Answer:
    document = changed_document(changed, _writer(call, warnings))
    return Answer(document, version=changed.entry.job.version)


def _writer(call: Call, warnings: Sequence[str] | None = None) -> Callable[[Entry], Document]:
    if Permission.READ not in call.actor.permissions:
        return _brief
    return partial(entry_document, warnings=warnings)


async def _warnings(call: Call, entries: Sequence[Entry]) -> Sequence[str] | None:
    if Permission.READ not in call.actor.permissions:
        return None
    return await call.use.jobs.warnings(call.actor, [entry.job for entry in entries])


def _brief(entry: Entry) -> Document:
    """What an actor learns of a job that it may change and not read."""
    job = entry.job
    return {
        "id": job.id,
        "project": job.project,
        "version": job.version,
        "state": entry.cursor.state.value,
    }


def _occurrence(done: Skipped, *, skipped: bool) -> Document:
    job = done.entry.job
    return {"job_id": job.id, "fire_time": instant_text(done.fire_time), "skipped": skipped}


def _version(job: Job) -> Document:
    return {
        "version": job.version,
        "saved_at": instant_text(job.saved_at),
        "definition": definition_document(job),
    }
