"""The reporter: batches the outcomes of attempts into `finish`. None is ever dropped."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterator
from itertools import islice

from tickwell.clock import Clock
from tickwell.domain.change import Change, Changer, pause
from tickwell.domain.event import (
    AttemptsFenced,
    AttemptsFinished,
    Events,
    FiresSkipped,
    JobPaused,
)
from tickwell.domain.execution import Claim, RangeSkip, Reason, State
from tickwell.domain.job import BY_POLICY, Entry, Job, JobState, Pause
from tickwell.domain.outcome import Outcome, Report, decide_or_fail
from tickwell.engine.planning.skipped_rows import skip_of
from tickwell.engine.running.start_guard import CROWD, StartGuard
from tickwell.ports.store import Store
from tickwell.settings import Settings

#: With a crowd of attempts in hand the next report is near: writes are this many seconds apart, and
#: each has more of them. Webhooks on PostgreSQL were written ten at a time, and the fixed cost of a
#: write took a sixth of the worker's time.
APART = 0.02
#: With a batch of attempts or more in hand, each of which waits for capacity first. A write has
#: 400 or 500 webhooks then instead of 150.
FAR_APART = 0.08
#: Another attempt follows, or a run that `max_runs` does not count.
_TO_BE_PLANNED = frozenset({State.WAITING, State.SKIPPED})
#: Rests until woken: there is nothing to do before the next report.
UNTIL_WOKEN = 7 * 86_400.0


class Reporter:
    """What attempts report while one batch is being written goes into the next."""

    name = "reporter"

    def __init__(
        self,
        store: Store,
        clock: Clock,
        events: Events,
        settings: Settings,
        *,
        guard: StartGuard,
        wake_planner: Callable[[], None],
        wake_worker: Callable[[], None],
    ) -> None:
        self.store = store
        self.clock = clock
        self.events = events
        self.settings = settings
        self.guard = guard
        self.wake_planner = wake_planner
        self.wake_worker = wake_worker
        self.wake: Callable[[], None] = lambda: None
        #: How many attempts are in hand.
        self.in_hand: Callable[[], int] = lambda: 0
        #: Whether reports wait for each other although few attempts are in hand.
        self.gathers = False
        self._wrote_at = float("-inf")
        self._pending: deque[tuple[Claim, Outcome, int]] = deque()
        self._in_flight: list[Report] = []
        #: What writes them.
        self._task: asyncio.Task[object] | None = None

    def is_cut_off(self) -> bool:
        """Whether nothing more is written: an event loop that ends cancels all tasks at once."""
        return self._task is not None and self._task.cancelling() > 0

    @property
    def backlog(self) -> int:
        """Reports that the store has not taken yet; a worker with many claims nothing new."""
        return len(self._pending) + len(self._in_flight)

    def unwritten(self) -> Iterator[Claim]:
        """The attempts whose outcomes wait to be written."""
        yield from (claim for claim, _, _ in self._pending)
        yield from (report.claim for report in self._in_flight)

    def report(self, claim: Claim, outcome: Outcome, at: int) -> None:
        """Take an outcome of then; the decision is made with the batch, off the attempt's path."""
        self._pending.append((claim, outcome, at))
        if len(self._pending) in {1, self.settings.batch}:
            self.wake()

    async def step(self) -> float:
        """Write one batch. A batch whose reply was lost is written again, as it was."""
        self._task = asyncio.current_task()
        if not self._in_flight:
            if (rest := self._gathering()) > 0:
                return rest
            taken = list(islice(self._pending, self.settings.batch))
            self._in_flight = [decide_or_fail(claim, outcome, at) for claim, outcome, at in taken]
            for _ in taken:
                self._pending.popleft()
        if not self._in_flight:
            return UNTIL_WOKEN
        reports = self._in_flight
        self._wrote_at = self.clock.monotonic()
        finished = await self.store.finish(reports, self.clock.now())
        self._in_flight = []
        applied = _without(finished.refused, reports)
        self._tell(applied, finished.refused)
        await self._pause_jobs(applied, finished.failures)
        return 0.0 if self._pending else UNTIL_WOKEN

    def _gathering(self) -> float:
        """Seconds to wait for more reports before the next write."""
        batch, in_hand = self.settings.batch, self.in_hand()
        pending, now = len(self._pending), self.clock.monotonic()
        if not pending or (in_hand < CROWD and not self.gathers):
            return 0.0
        if (wait := self.guard.reports_wait(pending, self._pending[0][2])) > 0:
            return min(wait, APART)  # by then most may have started
        if pending >= batch:
            return 0.0
        apart = FAR_APART if self.gathers or in_hand >= batch else APART
        return self._wrote_at + apart - now

    def _tell(self, applied: list[Report], refused: list[Report]) -> None:
        self.wake_worker()
        if any(
            report.state in _TO_BE_PLANNED
            or report.claim.job.trigger.follows_finish
            or report.claim.job.rate is not None
            for report in applied
        ):
            self.wake_planner()
        if not self.events.wanted:
            return
        if refused:
            self.events.emit(AttemptsFenced(reports=refused))
        if applied:
            self.events.emit(AttemptsFinished(reports=applied))
        if self.events.wants(FiresSkipped) and (skips := _skips(applied)):
            self.events.emit(FiresSkipped(skips=skips))

    async def _pause_jobs(self, reports: list[Report], failures: dict[str, int]) -> None:
        """What the target or the policy asks for; a crash in between is made good by the next."""
        now, asked = self.clock.now(), set[str]()
        for report in reports:
            job, why = report.claim.job, _why_paused(report, failures)
            if why is None or job.id in asked:
                continue
            asked.add(job.id)
            changer = _pause_if_firing(why)
            (changed,) = await self.store.change_jobs(job.project, [job.id], changer, now)
            if changed.entry.cursor.pause == Pause(by=BY_POLICY, why=why, since=now):
                self.events.emit(JobPaused(job=job.name, why=why, id=job.id, project=job.project))


def _without(refused: list[Report], reports: list[Report]) -> list[Report]:
    if not refused:
        return reports
    stale = {id(report) for report in refused}
    return [report for report in reports if id(report) not in stale]


def _skips(reports: list[Report]) -> list[tuple[Job, RangeSkip]]:
    """The fires whose conditions answered no."""
    return [
        (one.claim.job, skip_of(one.claim.job.id, one.claim.fire_time, Reason.CONDITION))
        for one in reports
        if one.state is State.SKIPPED
    ]


def _why_paused(report: Report, failures: dict[str, int]) -> str | None:
    """Why its job is to be paused, if it is: only who dies adds to the deaths in a row."""
    job = report.claim.job
    count = failures.get(job.id, 0) if report.state is State.DEAD else 0
    if report.pause is None and job.pause_after is not None and count >= job.pause_after:
        return f"{count} executions died in a row"
    return report.pause


def _pause_if_firing(why: str) -> Changer:
    """By the policy, unless a person was faster."""
    pausing = pause(BY_POLICY, why)

    def change(entry: Entry, now: int) -> Change | None:
        if entry.cursor.state in {JobState.PAUSED, JobState.DELETED}:
            return None
        return pausing(entry, now)

    return change
