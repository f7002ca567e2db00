"""What people do with jobs. A key is a name or an id."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from tickwell.domain.change import Changed
from tickwell.domain.document import document_of, job_from_document, job_to_document
from tickwell.domain.document.initial_state import ACTIVE, InitialState, require_unchanged
from tickwell.domain.document.job import with_retention
from tickwell.domain.job import Entry, Job, JobState, Pause, copied
from tickwell.domain.policy import DAY
from tickwell.errors import InvalidJob, JobExists, VersionConflict
from tickwell.ports.records import JobFilter, Page
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.documents import stamps
from tickwell.services.jobs.admission import check_handler
from tickwell.services.jobs.jobs_by_id import jobs_by_id
from tickwell.services.operations.audit_detail import ids_document
from tickwell.services.operations.context import OperationContext
from tickwell.services.operations.job_checks import allowed_to, job_warnings, require_own_secrets
from tickwell.services.operations.paging import job_size, read_page
from tickwell.services.redaction.masking import masked_definition, require_unmasked, unmasked
from tickwell.services.secrets.hosts import require_allowed_hosts
from tickwell.services.time import Moment


def merged(document: Any, patch: Any) -> Any:
    """The document with the patch laid over it: null takes a field out, lists are replaced."""
    if not isinstance(patch, dict):
        return patch
    found = dict(document) if isinstance(document, dict) else {}
    for name, value in patch.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = merged(found.get(name), value)
    return found


#: Jobs that one request may add.
MOST = 1000


@dataclass(slots=True, kw_only=True)
class Added:
    """A job, and whether it is new: a known `dedupe_key` answers with the job that has it."""

    entry: Entry
    new: bool


class JobOperations:
    """Adds, reads, changes and deletes jobs of the actor's project."""

    def __init__(self, context: OperationContext) -> None:
        self.context = context

    @needs(Permission.EDIT)
    async def create(
        self,
        actor: Actor,
        job: Job,
        *,
        state: InitialState = ACTIVE,
        again: bool = False,
        fresh: bool = False,
    ) -> Added:
        """Add a job; paused: it does not fire until it is resumed, or the pause ends.

        Again: this may be a request whose first try made the job, with its answer lost.
        Fresh: nobody else has the definition, which becomes the job.
        """
        (added,) = await self._add(actor, [job], [state], again=again, fresh=fresh)
        if added.new:
            await self._note(actor, "job.create", added.entry.job.id, None, added.entry)
        return added

    @needs(Permission.EDIT)
    async def create_many(
        self,
        actor: Actor,
        jobs: Sequence[Job],
        *,
        states: Sequence[InitialState] = (),
        again: bool = False,
        fresh: bool = False,
    ) -> Sequence[Added]:
        """Add jobs, all or none, in the order given; states, again, fresh: as of one."""
        if not 1 <= len(jobs) <= MOST:
            raise InvalidJob(f"1 to {MOST} jobs are added at once", field="jobs")
        added = await self._add(actor, jobs, states, again=again, fresh=fresh)
        ids = [each.entry.job.id for each in added if each.new]
        if ids:
            after = {"created": len(ids)} | ids_document(ids)
            await self.context.auditor.record(actor, "job.create_many", "jobs", None, after)
        return added

    @needs(Permission.READ)
    async def get(self, actor: Actor, key: str) -> Entry:
        """One job."""
        return await self.context.jobs.get(actor.project, key)

    @needs(Permission.READ)
    async def list(
        self, actor: Actor, where: JobFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Entry]:
        """Jobs by name."""
        scope = replace(where, project=actor.project)
        return await read_page(self.context.jobs.list, scope, cursor, limit, job_size)

    @needs(Permission.READ)
    async def names(self, actor: Actor, ids: Sequence[str]) -> Mapping[str, str]:
        """The names of jobs, by id."""
        found = await jobs_by_id(self.context.store, actor.project, ids)
        return {id: entry.job.name for id, entry in found.items()}

    @needs(Permission.READ)
    async def warnings(self, _actor: Actor, jobs: Sequence[Job]) -> Sequence[str]:
        """Handlers and queues of the actor's jobs that no live worker has yet."""
        return await job_warnings(self.context.store, self.context.clock, jobs)

    @needs(Permission.EDIT)
    async def replace(
        self,
        actor: Actor,
        key: str,
        job: Job,
        expected_version: int | None = None,
        *,
        exactly: bool = False,
        stated: Mapping[str, Any] | None = None,
    ) -> Changed:
        """Put another definition in its place; what code declared of it stays, masks are filled.

        So does its retention where the document says nothing of it, unless it is meant exactly.
        What it states, by `state` or `enabled`, has to be so: an edit does not change it.
        """
        before = await self._own(actor, key)
        require_unchanged(stated, before.cursor.state)
        if not exactly:
            job = with_retention(job, before.job.retention)
        return await self._edit(actor, "job.replace", before, job, expected_version)

    @needs(Permission.EDIT)
    async def patch(
        self,
        actor: Actor,
        key: str,
        patch: Any,
        expected_version: int | None = None,
        *,
        stated: Mapping[str, Any] | None = None,
    ) -> Changed:
        """Change some fields by a JSON merge patch: null gives a field its default back."""
        while True:
            before = await self._own(actor, key)
            require_unchanged(stated, before.cursor.state)
            # Masked: what the patch leaves alone is not sent to another host than before.
            shown = masked_definition(job_to_document(before.job))
            job = job_from_document(merged(shown, patch))
            if "retention" in patch and patch["retention"] is None:
                job = with_retention(job, await self.context.retention(actor.project))
            # The patch was laid over what was read just now: nobody may come in between.
            _expect(before, expected_version)
            try:
                return await self._edit(actor, "job.patch", before, job, before.job.version)
            except VersionConflict:
                if expected_version is not None:
                    raise  # else it is laid over what the other one made of it

    @needs(Permission.EDIT)
    async def delete(self, actor: Actor, key: str, expected_version: int | None = None) -> Changed:
        """Take a job away; its history stays until retention ends."""
        before = await self._own(actor, key)
        # Of several who ask at once, one deleted it, and stands in the audit log.
        (changed,) = await self.context.jobs.delete(
            actor.project, [before.job.id], expected_version, first=True
        )
        await self._note(actor, "job.delete", before.job.id, before, None)
        return changed

    @needs(Permission.OPERATE)
    async def pause(
        self, actor: Actor, key: str, *, why: str = "", until: Moment | None = None
    ) -> Changed:
        """Stop firing, until somebody resumes it or the instant comes."""
        before = await self._own(actor, key)
        ids = [before.job.id]
        jobs = self.context.jobs
        (changed,) = await jobs.pause(actor.project, ids, by=actor.name, why=why, until=until)
        await self._note(actor, "job.pause", before.job.id, before, changed.entry)
        return changed

    @needs(Permission.OPERATE)
    async def resume(self, actor: Actor, key: str) -> Changed:
        """Fire again from now on."""
        before = await self._own(actor, key)
        (changed,) = await self.context.jobs.resume(actor.project, [before.job.id])
        await self._note(actor, "job.resume", before.job.id, before, changed.entry)
        return changed

    async def _own(self, actor: Actor, key: str) -> Entry:
        """The job, if the actor may change what it is."""
        found = await self.context.jobs.get(actor.project, key)
        allowed_to(actor)(found.job)
        return found

    async def _add(
        self,
        actor: Actor,
        jobs: Sequence[Job],
        states: Sequence[InitialState],
        *,
        again: bool,
        fresh: bool,
    ) -> Sequence[Added]:
        for job in jobs:
            check_handler(job)
        require_unmasked(jobs)
        require_own_secrets(actor, jobs)
        await self._require_allowed_hosts(actor, jobs)
        retention = await self.context.retention(actor.project)
        # Whatever they say of themselves, they are the actor's project's, and new.
        own = await self.context.jobs.make(jobs, actor.project, retention, fresh=fresh)
        now = self.context.clock.now()
        pauses = [_pause(actor, state, now) for state in states]
        try:
            async with self.context.limiter.room_for(actor, own):
                added = await self.context.jobs.add_many(own, pauses=pauses, made=True)
        except JobExists:
            before = await self._made_before(own) if again else []
            if not before:
                raise JobExists(*await self._taken(own)) from None
            return [Added(entry=entry, new=True) for entry in before]
        return [
            Added(entry=entry, new=entry.job.id == job.id)
            for entry, job in zip(added, own, strict=True)
        ]

    async def _require_allowed_hosts(self, actor: Actor, jobs: Sequence[Job]) -> None:
        context = self.context
        await require_allowed_hosts(context.store, actor.project, jobs, context.clock.now())

    async def _taken(self, jobs: Sequence[Job]) -> Sequence[str]:
        """The names that are; should they have come free meanwhile, all of them were in the way."""
        names = [job.name for job in jobs]
        found = await self.context.store.get_jobs(jobs[0].project, names)
        there = {entry.job.name for entry in found if entry.cursor.state is not JobState.DELETED}
        return [name for name in names if name in there] or names

    async def _made_before(self, jobs: Sequence[Job]) -> Sequence[Entry]:
        """The jobs under these names, if all are such as were to be made, and none was edited."""
        found = await self.context.store.get_jobs(jobs[0].project, [job.name for job in jobs])
        by_name = {entry.job.name: entry for entry in found}
        known = [by_name[job.name] for job in jobs if job.name in by_name]
        same = len(known) == len(jobs) and all(map(_is_made_before, jobs, known))
        return known if same else []

    async def _edit(
        self, actor: Actor, action: str, before: Entry, job: Job, expected_version: int | None
    ) -> Changed:
        job = unmasked(job, before.job)
        if job.target != before.job.target:
            check_handler(job)
            require_own_secrets(actor, [job])
            await self._require_allowed_hosts(actor, [job])
        own = replace(
            job,
            id=before.job.id,
            project=actor.project,
            app=before.job.app,
            declared=before.job.declared,
        )
        _expect(before, expected_version)
        # One that has finished is not counted; with another trigger it may fire again.
        finished = before.cursor.state is JobState.FINISHED
        counted = not finished or own.trigger == before.job.trigger
        async with self.context.limiter.room_for(actor, [own], before.job if counted else None):
            changed = await self.context.jobs.edit(
                actor.project, before.job.id, own, expected_version
            )
        await self._note(actor, action, before.job.id, before, changed.entry)
        return changed

    async def _note(
        self, actor: Actor, action: str, id: str, before: Entry | None, after: Entry | None
    ) -> None:
        await self.context.auditor.record(
            actor, action, f"job/{id}", _document(before), _document(after)
        )


def _is_made_before(job: Job, entry: Entry) -> bool:
    """Whether a try of the last day made it: all is the same but for what each try has new."""
    before = entry.job
    own = {name: getattr(before, name) for name in ("id", "created_at", "saved_at")}
    return job.created_at - before.created_at <= DAY and copied(job, **own) == before


def _pause(actor: Actor, state: InitialState, now: int) -> Pause | None:
    if not state.is_paused(now):
        return None
    why = "added as paused" if state.why is None else state.why
    return Pause(by=actor.name, why=why, since=now, until=state.until)


def _expect(entry: Entry, version: int | None) -> None:
    if version is not None and version != entry.job.version:
        raise VersionConflict(entry.job.name, version, entry.job.version)


def _document(entry: Entry | None) -> dict[str, Any] | None:
    """What an audit entry keeps of a job: its definition, and whether it fires."""
    if entry is None:
        return None
    return {**document_of(entry), **stamps(entry.job), "state": entry.cursor.state.value}
