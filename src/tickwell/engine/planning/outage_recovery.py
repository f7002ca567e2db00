"""Outage recovery: replans fires that came due while no process ran, by their misfire policy.

They were planned ahead and have not started. See `domain.change.recall`, and docs/policies.md.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence

from tickwell.clock import Clock
from tickwell.domain.change import recall, to_recall
from tickwell.domain.execution import LIVE, Execution, Kind, Reason, State
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.domain.job import Entry
from tickwell.domain.policy import DAY, OnMisfire
from tickwell.domain.worker import Liveness
from tickwell.engine.liveness.absence import EVER, SLACK, Away
from tickwell.engine.liveness.process_identity import is_gone
from tickwell.engine.running.give_back import give_back_missed
from tickwell.engine.running.runner import Runner
from tickwell.errors import NotFound, StoreCorrupt
from tickwell.ports.records import ExecutionFilter, Record
from tickwell.ports.store import Store
from tickwell.settings import Settings

#: Seconds until a service looks again whose releases are still to be written.
SOON = 0.05
#: Executions, and jobs, that one call reads.
PAGE = 1_000
#: What has not started.
UNSTARTED = frozenset({State.WAITING, State.QUEUED, State.BLOCKED})
#: Milliseconds that the record of the last process that stopped is kept.
KIND, KEY, KEPT = "presence", "stopped", 35 * DAY


class OutageRecovery:
    """Asked before anything is planned or claimed: after an absence the policy comes first."""

    def __init__(
        self,
        store: Store,
        clock: Clock,
        settings: Settings,
        runner: Runner,
        worker_id: Callable[[], str],
    ) -> None:
        self.store = store
        self.clock = clock
        self.settings = settings
        self.runner = runner
        self.worker_id = worker_id
        self.presence = runner.presence
        #: Since when the store did not answer, the last time that it did not.
        self.no_store_since = EVER
        self._lock = asyncio.Lock()
        #: Attempts that ended while the store was away, and are still to be written.
        self._ended: frozenset[str] | None = None
        self._ended_at = 0.0

    async def attend(self, service: str, step: Callable[[], Awaitable[float]]) -> float:
        """Take a step of a service, once what came due in its absence is recalled."""
        self.presence.begin(service)
        rest = await step() if await self.look() else SOON
        self.presence.end(service, rest)
        return rest

    async def look(self) -> bool:
        """Replan what came due in an absence; False: not yet, releases are still to be written."""
        if self.presence.away is None and not self._lock.locked():
            return True
        async with self._lock:
            away = self.presence.away
            if away is None:
                return True
            give_back_missed(self.runner, away.since, self.clock.now())
            if away.no_store and not await self._ends_are_written(away):
                return False
            now, unwritten = self.clock.now(), self.runner.reporter.unwritten()
            if any(away.since <= claim.run_at <= now for claim in unwritten):
                return False
            since, until = await self._bounds(away, now)
            if since < until:
                await self._recall(since, until, now, no_store=away.no_store)
            self.presence.answered(away)
        return True

    async def _ends_are_written(self, away: Away) -> bool:
        """Whether the store knows of each attempt here that ended while it was away.

        Until then it takes the run for live, and fires after its end for overlapping. A report that
        the store never takes holds nothing up for longer than a lease.
        """
        self.no_store_since = away.since
        unwritten = self.runner.reporter.unwritten
        if self._ended is None and any(True for _ in unwritten()):
            await self.store.ping()  # it answers: what ends from now on may be written later
            self._ended = frozenset(claim.id for claim in unwritten())
            self._ended_at = self.clock.monotonic()
        owed = self._ended or frozenset()
        patient = self.clock.monotonic() - self._ended_at < self.settings.lease
        if patient and any(claim.id in owed for claim in unwritten()):
            return False
        self._ended = None
        return True

    async def leave(self) -> None:
        """Note that a process was here until now: what it leaves in the queue was met by it."""
        now = self.clock.now()
        record = Record(
            kind=KIND,
            project=PLATFORM_PROJECT,
            key=KEY,
            document={"at": now},
            expires_at=now + KEPT,
        )
        await self.store.put_record(record, now)

    async def _bounds(self, away: Away, now: int) -> tuple[int, int]:
        """From when to when no process was there, as far as the store knows of others."""
        since, until = away.since, now
        if away.no_store:
            return since, until
        for other in await self.store.list_workers():
            if other.worker.id == self.worker_id() or not other.worker.is_worker:
                continue  # a planner or an API would not have started what came due
            if not _is_dead(other) and self._was_there(other, away, now):
                until = min(until, other.worker.started_at)
            else:
                since = max(since, other.seen_at)
        if away.since == EVER:
            stopped = await self.store.get_record(KIND, PLATFORM_PROJECT, KEY, now)
            since = max(since, stopped.document["at"] if stopped is not None else EVER)
        return since, until

    def _was_there(self, other: Liveness, away: Away, now: int) -> bool:
        """Whether another process lived meanwhile.

        A beat of just now proves nothing if this process stood still: the other one may have, too.
        """
        if away.since == EVER:
            return now - other.seen_at < 2 * self.settings.beat * 1000
        return away.since < other.seen_at < now - SLACK

    async def _recall(self, since: int, until: int, now: int, *, no_store: bool) -> None:
        found = defaultdict[str, defaultdict[str, list[Execution]]](lambda: defaultdict(list))
        where = ExecutionFilter(states=UNSTARTED, kind=Kind.FIRE, due_before=until)
        async for one in self.listed(where):
            if one.run_at >= since and one.is_untried:
                found[one.project][one.job_id].append(one)
        in_doubt = await self._in_doubt() if no_store and found else set()
        for project, jobs in found.items():
            ids = list(jobs)
            for start in range(0, len(ids), PAGE):
                for entry in await self._readable(project, ids[start : start + PAGE]):
                    doubted = entry.job.id in in_doubt
                    await self._recall_job(entry, jobs[entry.job.id], now, in_doubt=doubted)

    async def _in_doubt(self) -> set[str]:
        """Jobs of runs that a worker has which was not heard since the store answers again."""
        back = {each.worker.id for each in await self.store.list_workers() if self._is_back(each)}
        running = ExecutionFilter(states=frozenset({State.RUNNING}))
        return {one.job_id async for one in self.listed(running) if one.worker not in back}

    async def _readable(self, project: str, ids: list[str]) -> Sequence[Entry]:
        """Jobs by id; one that this process cannot read is left to those that can."""
        try:
            return await self.store.get_jobs(project, ids)
        except StoreCorrupt:
            middle = len(ids) // 2
            if not middle:
                return []
            first = await self._readable(project, ids[:middle])
            return [*first, *await self._readable(project, ids[middle:])]

    async def _recall_job(
        self, entry: Entry, due: list[Execution], now: int, *, in_doubt: bool
    ) -> None:
        job, fires = entry.job, to_recall(entry, due, now, in_doubt=in_doubt)
        if not fires:
            return
        if job.trigger.follows_finish:
            # It counts from the end of its run, so there is no time to go back to.
            if job.misfire.policy is OnMisfire.SKIP:
                ids = [one.id for one in due if one.fire_time in fires]
                await self.store.settle(ids, UNSTARTED, State.SKIPPED, Reason.MISFIRE, now)
            return
        with contextlib.suppress(NotFound):  # pruned meanwhile
            await self.store.change_jobs(job.project, [job.id], recall(fires), now)

    async def under_way(self) -> dict[str, Execution]:
        """By job, the oldest run that is under way: a worker has it, or it waits to be retried.

        One that was lost or released with its process was not: it has no failure to its charge.
        Nor is one known to be of a worker that was not heard since the store answers again: it may
        have ended, and its worker has yet to report that.
        """
        workers = await self.store.list_workers()
        alive = {each.worker.id for each in workers if self._is_back(each)}
        found = {}
        # The newest first, so that of several of a job the oldest is remembered.
        async for one in self.listed(ExecutionFilter(states=LIVE, kind=Kind.FIRE)):
            if one.worker in alive if one.state is State.RUNNING else one.charged:
                found[one.job_id] = one
        return found

    def _is_back(self, one: Liveness) -> bool:
        if one.worker.id == self.worker_id():
            return True
        return not _is_dead(one) and one.seen_at >= self.no_store_since

    async def listed(self, where: ExecutionFilter) -> AsyncIterator[Execution]:
        """All executions of a list, page by page."""
        cursor: str | None = None
        while True:
            page = await self.store.list_executions(where, cursor, PAGE)
            for one in page.items:
                yield one
            cursor = page.cursor
            if cursor is None:
                return


def _is_dead(one: Liveness) -> bool:
    here = one.worker.host == socket.gethostname()
    return one.lost or (here and is_gone(one.worker.process))
