"""Syncing: what code declares becomes what the store holds, for one app and nobody else's jobs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tickwell.domain.ability import is_able
from tickwell.domain.job import Cursor, Entry, Job, JobState
from tickwell.domain.removed import REMOVED_KIND, runs_before
from tickwell.domain.target import Call
from tickwell.errors import (
    Conflict,
    InvalidPayload,
    JobExists,
    NotFound,
    VersionConflict,
    WrongState,
)
from tickwell.ports.records import JobFilter
from tickwell.ports.store import Store
from tickwell.services.jobs.admission import require_own_name
from tickwell.services.jobs.fire_times import GONE
from tickwell.services.jobs.jobs import Jobs


@dataclass(slots=True, kw_only=True)
class Synced:
    """What a sync did, by the names of the jobs."""

    added: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    resumed: list[str] = field(default_factory=list)
    paused: list[str] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    #: Added or edited, but without a fire time left: recorded as finished.
    over: list[str] = field(default_factory=list)
    #: Gone from this code, but a live worker has their handlers: another program's, or one that
    #: is about to leave.
    kept: list[str] = field(default_factory=list)


class Syncing:
    """Adds what is missing, edits what changed, pauses what is gone."""

    def __init__(self, jobs: Jobs, store: Store, app: str, project: str) -> None:
        self.jobs = jobs
        self.store = store
        self.app = app
        self.project = project

    async def sync(self, declared: Sequence[Job], *, prune: bool) -> Synced:
        """Bring the app's jobs up to date. Who declares nothing at all takes nothing away."""
        synced = Synced()
        for job in declared:
            await self.sync_one(job, synced)
        await self.take_away(declared, synced, prune=prune)
        return synced

    async def sync_one(self, declared: Job, synced: Synced) -> None:
        """Bring one job up to date."""
        # Even if one of before has this name: by it, another that has it for its id is found.
        require_own_name(declared)
        while True:
            known = await self._find(declared.name)
            try:
                if known is None:
                    await self._add(declared, synced)
                else:
                    await self._update(known, declared, synced)
            except InvalidPayload as error:  # many jobs may call one handler
                reason = f"job {declared.name!r} does not fit: {error.reason}"
                raise InvalidPayload(reason, field=error.field, hint=error.hint) from None
            except (JobExists, VersionConflict, NotFound):
                continue  # another process of the same app was faster: look again
            return

    async def _add(self, declared: Job, synced: Synced) -> None:
        """Add it, even if it is over; one that was removed when it was over has its count."""
        now = self.jobs.clock.now()
        record = await self.store.get_record(REMOVED_KIND, self.project, declared.name, now)
        runs = None if record is None else runs_before(record.document, self.app)
        added = await self.jobs.add(declared, runs=runs or 0)
        synced.added.append(declared.name)
        if runs is None and added.cursor.state is JobState.FINISHED:
            synced.over.append(declared.name)

    async def _update(self, known: Entry, declared: Job, synced: Synced) -> None:
        job = known.job
        if job.app != self.app:
            raise _foreign(job, self.app)
        if job.declared != declared.declared:
            edited = await self.jobs.edit(self.project, job.id, declared, job.version)
            synced.edited.append(job.name)
            if edited.entry.cursor.state is JobState.FINISHED:
                synced.over.append(job.name)
        if self._took_away(known.cursor):
            try:
                await self.jobs.resume(self.project, [job.id])
            except WrongState:
                return  # somebody else has resumed it
            synced.resumed.append(job.name)

    async def take_away(self, declared: Sequence[Job], synced: Synced, *, prune: bool) -> None:
        """Pause what is gone and no live worker can run; with `prune`, delete what is gone."""
        if not declared:
            return
        names, announced = {job.name for job in declared}, await self._announced()
        for entry in await self._own():
            job = entry.job
            if job.name in names or job.declared is None:
                continue
            try:
                if prune:
                    await self.jobs.delete(self.project, [job.id])
                    synced.deleted.append(job.name)
                elif entry.cursor.state is not JobState.ACTIVE:
                    continue
                elif isinstance(job.target, Call) and is_able(job.ability, announced):
                    synced.kept.append(job.name)
                else:
                    await self.jobs.pause(self.project, [job.id], by=self._name, why=GONE)
                    synced.paused.append(job.name)
            except NotFound:
                continue  # deleted meanwhile

    async def _announced(self) -> set[str]:
        """What live workers can run."""
        now = self.jobs.clock.now()
        alive = [each for each in await self.store.list_workers() if each.is_counted_on(now)]
        return {ability for each in alive for ability in each.worker.abilities}

    async def _own(self) -> list[Entry]:
        where, found, cursor = JobFilter(project=self.project, app=self.app), list[Entry](), None
        while True:
            page = await self.jobs.list(where, cursor)
            found += page.items
            cursor = page.cursor
            if cursor is None:
                return found

    @property
    def _name(self) -> str:
        return f"app {self.app}"

    def _took_away(self, cursor: Cursor) -> bool:
        pause = cursor.pause
        return pause is not None and (pause.by, pause.why) == (self._name, GONE)

    async def _find(self, name: str) -> Entry | None:
        try:
            return await self.jobs.get(self.project, name)
        except NotFound:
            return None


def gone_from(app: str) -> str:
    """Why a job was paused, and what else may be behind it."""
    return (
        f"{GONE} of app {app!r}. If another program declares it, both are the same app here, and"
        " each start pauses what the other declares: give every program a name of its own with"
        " Scheduler(app='…')"
    )


def _foreign(job: Job, app: str) -> Conflict:
    if job.app is None:
        return Conflict(
            f"job {job.name!r} was not declared by code; delete it, or declare yours under"
            " another name with @scheduler.job(…, name='…')"
        )
    return Conflict(
        f"job {job.name!r} belongs to app {job.app!r}, and this is app {app!r}; declare yours"
        " under another name with @scheduler.job(…, name='…')"
    )
