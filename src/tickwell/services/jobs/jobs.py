"""Jobs: the use cases that library, command line and API share."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any, Protocol

from tickwell.domain import change
from tickwell.domain.change import Changed, Changer
from tickwell.domain.document import job_from_document, job_to_document
from tickwell.domain.document.job import retention_of
from tickwell.domain.job import Cursor, Entry, Job, JobState, Pause, copied, filler
from tickwell.domain.payload import checked
from tickwell.domain.planning import counted, first_cursor
from tickwell.domain.policy import Retention
from tickwell.domain.trigger import Once, OnDemand, Trigger
from tickwell.domain.trigger.duration import format_duration
from tickwell.errors import InvalidJob, InvalidTrigger, NotFound, VersionConflict
from tickwell.ids import Random, new_id, new_ids
from tickwell.ports.records import JobFilter, Page
from tickwell.ports.store import CatalogStore
from tickwell.services.calendars.book import CalendarBook
from tickwell.services.cooperative import Pace, cooperatively
from tickwell.services.insights.cancelled_counts import CountingStore, OnCancelled, count_deleted
from tickwell.services.jobs.admission import require_within_limits
from tickwell.services.jobs.fire_times import each_upcoming
from tickwell.services.jobs.insert_batcher import InsertBatcher
from tickwell.services.projects.pauses import CoveringPauses
from tickwell.services.time import Moment, Time, end_of

_own = filler("id", "project", "retention", "version")
_begin = filler("trigger", "created_at", "saved_at")


class JobStore(CatalogStore, CountingStore, Protocol):
    """The part of a store that jobs need."""


class Jobs:
    """Adds, changes and reads jobs. A key is a name or an id."""

    def __init__(
        self, store: JobStore, clock: Time, random: Random, wake: Callable[[], None]
    ) -> None:
        self.store = store
        self.clock = clock
        self.random = random
        #: Called after a write, so that the loops of this process look at once.
        self.wake = wake
        #: Refuses a payload that the job's target could not be called with, where that is known.
        self.check: Callable[[Job, Any], None] = lambda _job, _payload: None
        #: Refuses jobs that may not be saved, before anything is written.
        self.admit: Callable[[Sequence[Job]], Awaitable[None]] = _all
        #: Called with jobs that were changed, how, by whom and why.
        self.on_changed: Callable[[Sequence[Entry], str, str, str], None] = _nothing
        #: Called with a project and how many executions of its queues ended with their jobs.
        self.on_cancelled: OnCancelled = lambda _project, _queues: None
        self._inserts = InsertBatcher()
        self._calendars = CalendarBook(store)
        self._covering = CoveringPauses(store, clock)

    async def add(self, definition: Job, *, runs: int = 0) -> Entry:
        """Add a job; an empty id gets one. A known `dedupe_key` answers with its job.

        `runs` counts against `max_runs`, for a job that comes back.
        """
        return (await self.add_many([definition], runs=runs))[0]

    async def add_many(
        self,
        definitions: Iterable[Job],
        *,
        pauses: Sequence[Pause | None] = (),
        made: bool = False,
        runs: int = 0,
    ) -> Sequence[Entry]:
        """Add jobs, all or none, in the order given; those with a pause do not fire yet.

        Those that were made by `make` are taken as they are.
        """
        now = self.clock.now()
        begins = _Beginnings()
        entries, pace = list[Entry](), Pace()
        if not made:
            definitions = await self._calendars.put_in([*definitions], now)
        for each in definitions:
            entries.append(self._entry(each if made else self._bind(each, now), begins, runs))
            if pace.is_long():
                await pace.rest()
        await self.admit([entry.job for entry in entries])
        if any(pauses):
            entries = list(map(_paused, entries, pauses))
        entries = [await self._aligned(entry, now) for entry in entries]
        if len(entries) == 1:
            added = [await self._inserts.add(self.store, entries[0], now)]
        else:
            added = await self.store.add_jobs(entries, now)
        self.wake()
        self.on_changed(added, "added", "", "")
        if not await self._calendars.stale((entry.job for entry in added), now):
            return added
        return [await self._latest(entry) for entry in added]

    async def _aligned(self, entry: Entry, now: int) -> Entry:
        """Paused from its beginning on, if its project is."""
        under = await self._covering.lately(entry.job.project)
        made = None if under is None else change.align(under)(entry, now)
        return entry if made is None else Entry(entry.job, made.cursor)

    async def get(self, project: str, key: str) -> Entry:
        """One job."""
        return (await self._existing(project, [key]))[0]

    async def edit(
        self, project: str, key: str, definition: Job, expected_version: int | None = None
    ) -> Changed:
        """Replace the definition; refused if it was edited since the expected version."""
        entry = await self.get(project, key)
        now = self.clock.now()
        before = entry.job
        is_by_code = definition.declared not in (None, before.declared)
        if definition.declared is None:  # by a person: whose code declares it stays known
            definition = replace(definition, app=before.app, declared=before.declared)
        require_within_limits(definition, entry.job)
        (definition,) = await self._calendars.put_in([definition], now, project)
        job = _bound(replace(definition, project=project))
        self._check_fires(job)
        if job.trigger != before.trigger and not is_by_code:
            _require_fires(job, first_cursor(job, now))
        if (job.target, job.timeout) != (entry.job.target, entry.job.timeout):
            await self.admit([job])
        changer = change.edit(job, expected_version)
        changed = (await self._change(project, [entry], changer, now))[0]
        changed.entry = await self._latest(changed.entry)
        self.on_changed([changed.entry], "edited", "", "")
        return changed

    async def refresh_calendars(self, project: str, key: str) -> Entry:
        """Save a job with the days that its shared calendars have now, if it has others."""
        while True:
            entry, now = await self.get(project, key), self.clock.now()
            if not await self._calendars.stale([entry.job], now):
                return entry
            (definition,) = await self._calendars.put_in([entry.job], now)
            job = _bound(definition)
            with suppress(VersionConflict):  # it was edited meanwhile: look again
                changer = change.edit(job, entry.job.version)
                return (await self._change(project, [entry], changer, now))[0].entry

    async def _latest(self, entry: Entry) -> Entry:
        """A job that was saved just now; a calendar may have been changed before it was found."""
        if not await self._calendars.stale([entry.job], self.clock.now()):
            return entry
        return await self.refresh_calendars(entry.job.project, entry.job.id)

    async def pause(
        self,
        project: str,
        keys: Sequence[str],
        *,
        by: str,
        why: str = "",
        until: Moment | None = None,
    ) -> Sequence[Changed]:
        """Stop firing; what has not started is taken back, retries and requested runs are held."""
        now = self.clock.now()
        end = end_of(until, now)
        entries = await self._existing(project, keys)
        changed = await self._change(project, entries, change.pause(by, why, end), now)
        self.on_changed([each.entry for each in changed], "paused", by, why)
        return changed

    async def resume(self, project: str, keys: Sequence[str]) -> Sequence[Changed]:
        """Fire again from now on; jobs of a paused project as soon as that is resumed."""
        entries = await self._existing(project, keys)
        changer = change.resume(await self._covering.now(project))
        changed = await self._change(project, entries, changer, self.clock.now())
        self.on_changed([each.entry for each in changed], "resumed", "", "")
        return changed

    async def delete(
        self,
        project: str,
        keys: Sequence[str],
        expected_version: int | None = None,
        *,
        first: bool = False,
    ) -> Sequence[Changed]:
        """Take jobs away; their history stays until retention ends.

        First: one that somebody else deletes at the same moment is not found.
        """
        entries, now = await self._existing(project, keys), self.clock.now()
        changer = change.delete(expected_version, first=first)
        changed = await self._change(project, entries, changer, now)
        for each in changed:
            await count_deleted(self.store, each.entry.job, now, self.on_cancelled)
        self.on_changed([each.entry for each in changed], "deleted", "", "")
        return changed

    async def next_fires(self, project: str, key: str, count: int = 10) -> Sequence[int]:
        """The next fire times as far as they are known, up to `count`."""
        entry = await self.get(project, key)
        fires = each_upcoming(entry, self.clock.now(), count)
        return [fire async for fire in cooperatively(fires)]

    async def list(
        self, where: JobFilter, cursor: str | None = None, limit: int = 100
    ) -> Page[Entry]:
        """Jobs by project and name."""
        return await self.store.list_jobs(where, cursor, limit)

    async def make(
        self, definitions: Sequence[Job], project: str, retention: Retention, *, fresh: bool = False
    ) -> Sequence[Job]:
        """Jobs of a project from definitions that were read as JSON, with its retention if need be.

        What was read can be read again, and is not tried. Fresh: nobody else has the definitions,
        which become the jobs.
        """
        now = self.clock.now()
        definitions = await self._calendars.put_in(definitions, now, project)
        ids = new_ids(now, self.random, len(definitions))
        jobs = list(definitions) if fresh else [*map(copied, definitions)]
        pace = Pace()
        for job, id in zip(jobs, ids, strict=True):
            # The project first: `H` fields are chosen by it too.
            _own(job, id, project, retention_of(job, retention), 1)
            _begin(job, _bound_trigger(job), now, now)
            require_within_limits(job)
            if pace.is_long():
                await pace.rest()
        return jobs

    def _bind(self, definition: Job, now: int) -> Job:
        id = definition.id or new_id(now, self.random)
        job = replace(definition, id=id, version=1, created_at=now, saved_at=now)
        require_within_limits(job)
        return _bound(job)

    def _entry(self, job: Job, begins: _Beginnings, runs: int) -> Entry:
        cursor = begins.cursor_of(job)
        if job.declared is None:  # code outlives its jobs, and its program starts nevertheless
            _require_fires(job, cursor)
        self._check_fires(job)
        return Entry(job, counted(job, cursor, runs) if runs else cursor)

    def _check_fires(self, job: Job) -> None:
        """A fire has the job's own payload; a job on demand may get all of its own each time."""
        if not isinstance(job.trigger, OnDemand):
            self.check(job, job.payload)

    async def _existing(self, project: str, keys: Sequence[str]) -> Sequence[Entry]:
        found = await self.store.get_jobs(project, keys)
        known = [entry for entry in found if entry.cursor.state is not JobState.DELETED]
        names = {name for entry in known for name in (entry.job.id, entry.job.name)}
        for key in keys:
            if key not in names:
                raise NotFound("job", key)
        return known

    async def _change(
        self, project: str, entries: Sequence[Entry], changer: Changer, now: int
    ) -> Sequence[Changed]:
        ids = [entry.job.id for entry in entries]
        try:
            return await self.store.change_jobs(project, ids, changer, now)
        finally:
            # Even if one was refused, those before it were changed.
            self.wake()


class _Beginnings:
    """First cursors of jobs that are added together: those of one trigger begin alike."""

    def __init__(self) -> None:
        #: By identity, which the job keeps from being given to another trigger.
        self._known: dict[tuple[int, int, int], tuple[Job, Cursor]] = {}

    def cursor_of(self, job: Job) -> Cursor:
        """The cursor of a job that is new: what comes after the instant it was saved at."""
        key = id(job.trigger), job.misfire.grace, job.saved_at
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = job, first_cursor(job, job.saved_at)
        return known[1]


def _nothing(_jobs: Sequence[Entry], _how: str, _by: str, _why: str) -> None:
    """Nothing is told of changes."""


async def _all(_jobs: Sequence[Job]) -> None:
    """Nothing is refused."""


def _bound_trigger(job: Job) -> Trigger:
    """`H` fields are chosen by the name of the job."""
    return job.trigger.bound(f"{job.project}/{job.name}")


def _bound(job: Job) -> Job:
    """Ready to be kept: `H` fields chosen by its name, the payload as stores give it back."""
    bound = replace(job, trigger=_bound_trigger(job), payload=checked(job.payload))
    if job_from_document(job_to_document(bound)) != bound:
        # What cannot be read back would stop every planner that meets it.
        raise InvalidJob("a field has a value of a type that cannot be stored", field=job.name)
    return bound


def _paused(entry: Entry, pause: Pause | None) -> Entry:
    """From its beginning on."""
    if pause is None:
        return entry
    paused = change.pause(pause.by, pause.why, pause.until)(entry, entry.job.created_at)
    return entry if paused is None else Entry(entry.job, paused.cursor)


def _require_fires(job: Job, cursor: Cursor) -> None:
    if cursor.state is not JobState.FINISHED:
        return
    if isinstance(job.trigger, Once):
        raise InvalidTrigger(
            f"{job.trigger.at:%Y-%m-%d %H:%M:%S} UTC is past, by more than the misfire grace of"
            f" {format_duration(job.misfire.grace)}",
            field="trigger.once",
            hint="Choose a later moment, or trigger an on-demand job now",
        )
    raise InvalidTrigger(
        "there is no fire time after now",
        field="trigger",
        hint="Move `until` or the windows, or make it an on-demand job",
    )
