"""The reaper: recovers what was lost, parks what nobody can run, prunes what is old."""

from __future__ import annotations

import socket
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tickwell.clock import Clock
from tickwell.domain.event import Events, Recovered, WorkerLost
from tickwell.domain.execution import Claim, OutcomeKind
from tickwell.domain.external import External
from tickwell.domain.outcome import Outcome, decide_or_fail
from tickwell.domain.policy import MANY_LOST
from tickwell.domain.trigger.duration import format_duration
from tickwell.domain.worker import Liveness
from tickwell.engine.liveness.housekeeping import Housekeeping
from tickwell.engine.liveness.outside_jobs import OutsideJobs
from tickwell.engine.liveness.process_identity import is_gone
from tickwell.engine.planning.planner import require_fresh_clock
from tickwell.errors import StoreError
from tickwell.ports.store import Store
from tickwell.settings import Settings

#: The id of no worker.
NOBODY = ""


@dataclass(slots=True)
class _Seen:
    beat: int
    since: float


class Reaper:
    """Any live process recovers, not only a starting one.

    Loss is judged by a beat number that stays the same for `lease` on this process's own monotonic
    clock while the store answered throughout. So neither a skewed clock, nor a store outage, nor
    a pause of this very process declares anybody lost. A process that ran on this machine and is
    gone from it needs no such proof.
    """

    name = "reaper"

    def __init__(
        self,
        store: Store,
        clock: Clock,
        events: Events,
        settings: Settings,
        wake: Callable[[], None],
    ) -> None:
        self.store = store
        self.clock = clock
        self.events = events
        self.settings = settings
        self.wake = wake
        #: Called with all workers that the store knows, at every look.
        self.on_workers: Callable[[list[Liveness]], None] = lambda _workers: None
        self.housekeeping = Housekeeping(store, clock, events, settings)
        self.outside_jobs = OutsideJobs(store, clock, events)
        self._seen: dict[str, _Seen] = {}
        #: Lost workers with many attempts, of which there are more than one batch.
        self._crowded: set[str] = set()
        self._last_look = float("-inf")

    async def step(self) -> float:
        """Watch, declare, recover, keep house."""
        try:
            return await self._round()
        except StoreError:
            self._seen.clear()  # who could not reach the store was silent for no fault of its own
            raise

    async def _round(self) -> float:
        require_fresh_clock(self.clock, self.settings)
        await self._see_a_write_through()
        workers = await self.outside_jobs.keep(await self.store.list_workers())
        self.on_workers(workers)
        for worker in [*self._silent(workers), *self._gone(workers)]:
            if await self.store.declare_lost(worker.worker.id, worker.beat, self.clock.now()):
                lost = worker.worker
                self.events.emit(
                    WorkerLost(worker=lost.id, host=lost.host, pid=lost.pid, roles=lost.roles)
                )
        more = await self._recover()
        await self.housekeeping.run(workers)
        return 0.0 if more else self.settings.sweep

    async def _see_a_write_through(self) -> None:
        """Do not count silence while a lock keeps every beat waiting and reads are still answered.

        Declaring nobody lost is a write that changes nothing.
        """
        began = self.clock.monotonic()
        await self.store.declare_lost(NOBODY, 0, self.clock.now())
        if self.clock.monotonic() - began > self.settings.beat:
            self._seen.clear()

    def _gone(self, workers: list[Liveness]) -> list[Liveness]:
        host = socket.gethostname()
        here = [one for one in workers if not one.lost and one.worker.host == host]
        return [one for one in here if is_gone(one.worker.process)]

    def _silent(self, workers: list[Liveness]) -> list[Liveness]:
        now = self.clock.monotonic()
        if now - self._last_look > 2 * self.settings.sweep + 1:
            self._seen.clear()  # the store did not answer meanwhile, or this process stood still
        self._last_look = now
        known = {worker.worker.id: worker for worker in workers if not worker.lost}
        self._seen = {id: seen for id, seen in self._seen.items() if id in known}
        silent = []
        for id, worker in known.items():
            seen = self._seen.get(id)
            if seen is None or seen.beat != worker.beat:
                self._seen[id] = _Seen(worker.beat, now)
            elif now - seen.since >= self.settings.lease:
                silent.append(worker)
        return silent

    async def _recover(self) -> bool:
        now = self.clock.now()
        orphans = await self.store.orphans(now, self.settings.batch)
        if not orphans:
            return False
        crowded = self._crowds(orphans, now)
        reports = [
            decide_or_fail(claim, _lost(claim, now, in_crowd=claim.worker in crowded), now)
            for claim in orphans
        ]
        finished = await self.store.finish(reports, now)
        refused = {report.claim.id for report in finished.refused}
        recovered = [report for report in reports if report.claim.id not in refused]
        if recovered:
            ids = [report.claim.id for report in recovered]
            self.events.emit(Recovered(executions=ids, reports=recovered))
        self.wake()
        more = len(orphans) == self.settings.batch
        self._crowded = crowded if more else set()
        return more

    def _crowds(self, orphans: Sequence[Claim], now: int) -> set[str]:
        """Workers lost with many attempts at once, so that none of them is known as the cause."""
        held = Counter(claim.worker for claim in orphans if not _is_overdue(claim, now))
        return self._crowded | {worker for worker, count in held.items() if count >= MANY_LOST}


def _is_overdue(claim: Claim, now: int) -> bool:
    """Whether it is lost by its own deadline, however its worker is."""
    return claim.deadline < now


def _lost(claim: Claim, now: int, *, in_crowd: bool) -> Outcome:
    """The outcome of an attempt that nobody will report; one held for its instant waits on."""
    if isinstance(claim.job.target, External) and _is_overdue(claim, now):
        return Outcome(
            kind=OutcomeKind.TIMED_OUT,
            started_at=claim.started_at,
            error=f"no further check-in within {format_duration(claim.job.timeout.hard)}",
            retry=False,
            why_final="it checked in at its start, and not at its end",
        )
    return Outcome(
        kind=OutcomeKind.LOST,
        started_at=claim.started_at,
        error="the worker died or hung",
        delay=claim.run_at - now if claim.run_at > now else None,
        in_crowd=in_crowd and not _is_overdue(claim, now),
    )
