"""A checkup: what keeps jobs from running, in one sentence each, and what to do about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from shlex import quote
from typing import Protocol

from tickwell.domain.execution import State
from tickwell.domain.job import JobState
from tickwell.domain.queue import PAUSE_KIND, PAUSE_PROJECT
from tickwell.domain.trigger.duration import format_duration
from tickwell.domain.worker import Liveness
from tickwell.ports.inspected import Inspected
from tickwell.ports.records import ExecutionFilter, JobFilter, Record, Wakeup
from tickwell.ports.store import CatalogStore, HistoryStore, QueueStore, RecordStore, Upkeep
from tickwell.services.declarations import GONE

#: Milliseconds after which what is due and has not moved is worth a word.
LATE = 60_000
#: A clock further off than this makes people's own times and the store's disagree.
SKEWED = 5_000
_PRUNED = 10_000
_SOME = 100
_NAMED = 5


class Level(StrEnum):
    """How bad it is."""

    OK = "ok"
    #: Jobs run, but somebody should look.
    WARNING = "warning"
    #: Jobs do not run.
    BROKEN = "broken"


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was looked at."""

    check: str
    level: Level
    text: str
    remedy: str = ""


class CheckedStore(QueueStore, CatalogStore, HistoryStore, RecordStore, Upkeep, Protocol):
    """What a checkup looks at."""


class Checkup:
    """Looks, and repairs only when asked to."""

    def __init__(self, store: CheckedStore, project: str, called: str | None = None) -> None:
        self.store = store
        self.project = project
        #: What findings call the store.
        self.called = called or store.name

    async def findings(self, host_time: int, *, fix: bool = False) -> list[Finding]:
        """Everything that was looked at; the host's time is compared with the store's."""
        if flawed := await self._flawed():
            return flawed  # what else there is to look at is found by these
        now = await self.store.ping()
        stats = await self.store.stats(self.project)
        wakeup = await self.store.next_wakeup(now)
        found = [_clock(self.called, now, host_time)]
        alive = [each for each in await self.store.list_workers() if each.is_counted_on(now)]
        found.append(_workers(alive, stats, wakeup, now))
        found += _planner(wakeup, now)
        paused = await self.store.list_records(PAUSE_KIND, PAUSE_PROJECT, "", now)
        found += map(_paused, paused)
        found += await self._stuck(alive, {each.key for each in paused}, now)
        found += await self._orphans(now)
        found += await self._taken_away()
        found += await self._parked(alive)
        found += _dead(stats)
        if fix:
            pruned = await self.store.prune(now, _PRUNED)
            found.append(Finding("history", Level.OK, f"{pruned} old records were pruned"))
        return found

    async def _flawed(self) -> list[Finding]:
        """Indexes that somebody dropped or changed."""
        flaws = await self.store.flaws() if isinstance(self.store, Inspected) else []
        return [Finding("indexes", Level.BROKEN, each.text, each.remedy) for each in flaws]

    async def _stuck(self, alive: Sequence[Liveness], paused: set[str], now: int) -> list[Finding]:
        """Queued executions that nobody takes although no pause keeps them, and why."""
        where = ExecutionFilter(
            project=self.project, states=frozenset({State.QUEUED}), due_before=now - LATE
        )
        page = await self.store.list_executions(where, limit=_SOME)
        waits = {each.queue for each in page.items} - paused
        served = {queue for each in alive for queue in each.worker.queues}
        unserved = sorted(waits - served)
        if unserved and alive:
            names = ", ".join(unserved)
            return [
                Finding(
                    "queues",
                    Level.BROKEN,
                    f"executions wait in queues that no worker takes from: {names}",
                    "Start a worker with these queues in its settings",
                )
            ]
        if waits and alive:
            text = "executions have been waiting for a worker for a minute or more"
            return [Finding("queues", Level.WARNING, text, "Start more workers: tickwell serve")]
        return []

    async def _taken_away(self) -> list[Finding]:
        """What a start paused since its code has it no more: two programs may share an app."""
        where = JobFilter(project=self.project, states=frozenset({JobState.PAUSED}))
        page = await self.store.list_jobs(where, limit=_SOME)
        pauses = [(entry.job.name, entry.cursor.pause) for entry in page.items]
        names = [name for name, pause in pauses if pause is not None and pause.why == GONE]
        if not names:
            return []
        text = f"{len(names)} paused as {GONE}: {', '.join(names[:_NAMED])}"
        remedy = "If another program declares them, give each its own name: Scheduler(app='…')"
        return [Finding("declared jobs", Level.WARNING, text, remedy)]

    async def _parked(self, alive: Sequence[Liveness]) -> list[Finding]:
        """What no live worker can run, by the reason. As of now: workers come and go."""
        where = ExecutionFilter(project=self.project, states=frozenset({State.PARKED}))
        page = await self.store.list_executions(where, limit=_SOME)
        served = {queue for each in alive for queue in each.worker.queues}
        unserved = Counter(each.queue for each in page.items if each.queue not in served)
        others = Counter(each.reason for each in page.items if each.queue in served)
        more = " or more" * (page.cursor is not None)
        return [
            Finding(
                "queues",
                Level.BROKEN,
                f"{count}{more} parked: no live worker serves queue {queue!r}",
                f"Start a worker for it: TICKWELL_QUEUES={quote(queue)} tickwell serve",
            )
            for queue, count in unserved.items()
        ] + [
            Finding(
                "handlers",
                Level.WARNING,
                f"{count}{more} parked: {reason}",
                _remedy(reason or ""),
            )
            for reason, count in others.items()
        ]

    async def _orphans(self, now: int) -> list[Finding]:
        count = len(await self.store.orphans(now, _SOME))
        if not count:
            return []
        text = f"{count}{' or more' * (count == _SOME)} attempts of lost workers wait for recovery"
        return [Finding("recovery", Level.WARNING, text, "Any process recovers: tickwell serve")]


def link_findings(weak: Iterable[tuple[str, str]]) -> list[Finding]:
    """Links to the store and to the Redis beside it that others could read or forge.

    Each by the setting that names the server, and what is wrong with the link.
    """
    remedy = "Set TLS up there and leave the option out of the URL, or use rediss://"
    return [
        Finding("link", Level.WARNING, f"the link to {setting} {words}", remedy)
        for setting, words in weak
    ]


def _remedy(reason: str) -> str:
    """What to do about parked executions whose queue is served."""
    if reason.startswith("no live worker may run it"):
        return "Change the settings of a worker, or the job"
    return "Start the application that declares it: tickwell serve --app module:scheduler"


def _clock(name: str, now: int, host_time: int) -> Finding:
    skew = abs(now - host_time)
    if skew > SKEWED:
        text = f"the clock of {name} is {format_duration(skew)} off the one of this host"
        return Finding("store", Level.WARNING, text, "Let both follow a time server")
    return Finding("store", Level.OK, f"{name} answers, its schema is up to date")


def _workers(
    alive: Sequence[Liveness], stats: dict[State, int], wakeup: Wakeup, now: int
) -> Finding:
    if alive:
        beat = max(each.seen_at for each in alive)
        ago = format_duration(max(now - beat, 0) // 1000 * 1000)
        return Finding("workers", Level.OK, f"{len(alive)} alive, last beat {ago} ago")
    waits = wakeup.fire is not None or any(
        stats.get(state) for state in (State.WAITING, State.BLOCKED, State.QUEUED)
    )
    level = Level.BROKEN if waits else Level.WARNING
    remedy = "Start one: tickwell serve, or celery -A tickwell.celery worker with that engine"
    return Finding("workers", level, "no worker is alive", remedy)


def _paused(queue: Record) -> Finding:
    why = f": {queue.document['why']}" if queue.document["why"] else ""
    remedy = f"Let it go on: tickwell queues resume {quote(queue.key)}"
    return Finding("queues", Level.WARNING, f"the queue {queue.key} is paused{why}", remedy)


def _planner(wakeup: Wakeup, now: int) -> Iterator[Finding]:
    if wakeup.fire is not None and now - wakeup.fire > LATE:
        late = format_duration((now - wakeup.fire) // 1000 * 1000)
        text = f"a fire time has been overdue for {late}: no planner runs"
        yield Finding("planner", Level.BROKEN, text, "Start one: tickwell serve")
    else:
        yield Finding("planner", Level.OK, "no fire time is overdue")


def _dead(stats: dict[State, int]) -> Iterator[Finding]:
    if dead := stats.get(State.DEAD):
        remedy = "See: tickwell dead list --by-error"
        yield Finding("dead letters", Level.WARNING, f"{dead} to look at", remedy)
