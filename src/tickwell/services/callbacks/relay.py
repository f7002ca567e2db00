"""Turns what happens to executions into callbacks: once for each event, in whichever process.

The process that records an end asks for its callbacks. Should it die in between, another looks at
what ended in the last minutes, once a minute; the key of the run makes each event one run.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Protocol

from tickwell.clock import Clock
from tickwell.domain.event import AttemptsFinished, Event, Events, JobPaused, Stopped
from tickwell.domain.execution import State
from tickwell.domain.job import Entry, JobState
from tickwell.domain.outcome import Report
from tickwell.domain.sender import is_sender_name
from tickwell.ports.records import ExecutionFilter, JobFilter, Record
from tickwell.ports.store import CatalogStore, HistoryStore, RecordStore
from tickwell.services.callbacks.callback import (
    KIND,
    PROJECTS_KIND,
    STATES,
    Callback,
    CallbackEvent,
    News,
    from_document,
    message,
    news_of_execution,
    news_of_report,
    pause_message,
    pause_of,
    was_revived,
)
from tickwell.services.every_record import every_record
from tickwell.services.executions.executions import Executions
from tickwell.services.jobs.jobs_by_id import jobs_by_id
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.senders.sending import send
from tickwell.services.ttl_cache import TtlCache

#: News that wait to be told, and batches of reports that wait to be looked at; the oldest go
#: first, and are found again by the sweep.
MOST, MOST_BATCHES = 10_000, 100
#: Seconds between two sweeps, at least; how many of them one looks back; milliseconds after which
#: an end is looked at.
SWEEP, SWEEPS_BACK = 60.0, 10
SETTLED = 10_000
#: Executions that a sweep looks at in one project.
LOOKED_AT = 1000
_ENDED = frozenset({State.SUCCEEDED, State.DEAD})
_SWEEP = "callback_sweep"


class RelayStore(CatalogStore, HistoryStore, RecordStore, Protocol):
    """What the relay needs of a store."""


class Relay:
    """`engine.loop.Service`, fed by the engine's events."""

    name = "callbacks"

    def __init__(
        self, store: RelayStore, clock: Clock, executions: Executions, *, sweep: float = SWEEP
    ) -> None:
        self.wake: Callable[[], None] = lambda: None
        self._store = store
        self._clock = clock
        self._executions = executions
        #: With the instant at which they were heard of.
        self._ended: deque[tuple[int, Sequence[Report]]] = deque(maxlen=MOST_BATCHES)
        self._news: deque[News] = deque(maxlen=MOST)
        #: Projects and ids of jobs that a policy paused here.
        self._paused: deque[tuple[str, str]] = deque(maxlen=MOST)
        self._projects: TtlCache[str, frozenset[str]] = TtlCache(clock)
        self._callbacks: TtlCache[str, list[Callback]] = TtlCache(clock)
        self._names: TtlCache[tuple[str, str], str | None] = TtlCache(clock)
        self._every = max(SWEEP, sweep)
        self._swept_at = clock.monotonic()
        self._leave: Callable[[], None] = lambda: None

    def listen(self, events: Events) -> None:
        """Hear what the engine tells, until it has stopped."""
        self._leave = events.subscribe(self.hear)

    def hear(self, event: Event) -> None:
        """A listener of the engine's events."""
        if isinstance(event, Stopped):
            self._leave()
        if isinstance(event, AttemptsFinished):
            self._ended.append((self._clock.now(), event.reports))
            self.wake()
        if isinstance(event, JobPaused) and event.id:
            self._paused.append((event.project, event.id))
            self.wake()

    async def step(self) -> float:
        """Tell all news; look for what nobody told."""
        while self._ended:
            await self._gather()
        while self._news:
            news = self._news[0]
            await self._tell(news)
            if self._news and self._news[0] is news:
                self._news.popleft()  # only now: a store that is away loses none
        while self._paused:
            project, job = self._paused[0]
            await self._tell_paused(project, await self._store.get_jobs(project, [job]))
            self._paused.popleft()
        left = self._swept_at + self._every - self._clock.monotonic()
        if left > 0:
            return left
        await self._sweep()
        self._swept_at = self._clock.monotonic()
        return self._every

    async def _gather(self) -> None:
        """Most projects have no callbacks, and of theirs nothing is made here.

        Which have some is read after the reports came, once for all that wait: a callback that was
        added just before a run is to hear of it.
        """
        waiting = list(self._ended)
        projects = await self._projects.get("", self._read_projects, since=waiting[-1][0])
        for batch in waiting:
            if self._ended and self._ended[0] is batch:
                self._ended.popleft()
            ours = (report for report in batch[1] if report.claim.job.project in projects)
            self._news.extend(news for report in ours if (news := news_of_report(report)))

    async def _tell(self, news: News) -> None:
        callbacks = await self._callbacks.get(
            news.project, lambda: self._read(news.project), since=news.ended_at
        )
        if news.job in {callback.id for callback in callbacks}:
            return  # one that an admin renamed would tell of itself without end
        for callback in callbacks:
            if callback.job not in {None, news.job} or news.ended_at < callback.created_at:
                continue
            for kind in callback.events & news.kinds:
                await self._ask(callback, news, kind)
            well = (
                CallbackEvent.RECOVERED in callback.events and CallbackEvent.SUCCEEDED in news.kinds
            )
            if well and await self._had_died(news):
                await self._ask(callback, news, CallbackEvent.RECOVERED)

    async def _ask(self, callback: Callback, news: News, kind: CallbackEvent) -> None:
        key = f"{news.execution}:{news.attempt}:{kind.value}"
        name = await self._names.get((news.project, news.job), lambda: self._name_of(news))
        if name is not None and is_sender_name(name, news.job):
            return  # of an alert, found by the sweep
        await send(self._executions, news.project, callback.id, message(news, kind, name), key)

    async def _tell_paused(self, project: str, entries: Sequence[Entry], since: int = 0) -> None:
        """Once for each pause, in whichever process: its instant is part of the key."""
        pauses = [news for each in entries if (news := pause_of(each)) is not None]
        pauses = [each for each in pauses if each.pause.since >= since]
        for callback in await self._read(project) if pauses else ():
            for news in pauses:
                is_wanted = CallbackEvent.PAUSED in callback.events
                is_about = callback.job in {None, news.job.id}
                if is_wanted and is_about and news.pause.since >= callback.created_at:
                    key = f"{news.job.id}:{news.pause.since}:{CallbackEvent.PAUSED.value}"
                    await send(self._executions, project, callback.id, pause_message(news), key)

    async def _name_of(self, news: News) -> str | None:
        found = await jobs_by_id(self._store, news.project, [news.job])
        return found[news.job].job.name if found else None

    async def _had_died(self, news: News) -> bool:
        """Itself, before somebody revived it, or the one before it."""
        if news.attempt > 1:
            execution = await self._store.get_execution(news.project, news.execution)
            if execution is not None and was_revived(execution):
                return True
        where = ExecutionFilter(
            project=news.project, job_id=news.job, states=_ENDED, until=news.fire_time + 1
        )
        page = await self._store.list_executions(where, None, 10)
        before = [each for each in page.items if each.id < news.execution]
        return bool(before) and before[0].state is State.DEAD

    async def _sweep(self) -> None:
        """One process a minute, for all."""
        now, period = self._clock.now(), int(self._every * 1000)
        projects = await self._projects_with_callbacks()
        if not projects:
            return
        turn = Record(
            kind=_SWEEP,
            project=PLATFORM,
            key=str(now // period),
            document={},
            expires_at=now + SWEEPS_BACK * period,
        )
        if await self._store.put_record(turn, now, 0):
            for project in projects:
                await self._look_at(project, now)

    async def _look_at(self, project: str, now: int) -> None:
        callbacks = await self._read(project)
        senders = {callback.id for callback in callbacks}
        back = now - int(SWEEPS_BACK * self._every * 1000)
        wanted = frozenset[CallbackEvent]().union(*(each.events for each in callbacks))
        if CallbackEvent.PAUSED in wanted:
            paused = JobFilter(project=project, states=frozenset({JobState.PAUSED}))
            entries = (await self._store.list_jobs(paused, None, LOOKED_AT)).items
            await self._tell_paused(project, entries, since=back)
        states = frozenset[State]().union(*(STATES[each] for each in wanted))
        where = ExecutionFilter(project=project, states=states, since=back)
        cursor, seen = None, 0
        while states and seen < LOOKED_AT:
            page = await self._store.list_executions(where, cursor, 100)
            for execution in page.items:
                ended = execution.ended_at or now
                if ended <= now - SETTLED and execution.job_id not in senders:
                    await self._tell(news_of_execution(execution))
            cursor, seen = page.cursor, seen + len(page.items)
            if cursor is None:
                return

    async def _projects_with_callbacks(self) -> frozenset[str]:
        return await self._projects.get("", self._read_projects)

    async def _read_projects(self) -> frozenset[str]:
        # Their keys are names of projects.
        records = every_record(self._store, PROJECTS_KIND, PLATFORM, self._clock.now())
        return frozenset([record.key async for record in records])

    async def _read(self, project: str) -> list[Callback]:
        records = await self._store.list_records(KIND, project, "", self._clock.now())
        return [from_document(record.key, record.document) for record in records]
