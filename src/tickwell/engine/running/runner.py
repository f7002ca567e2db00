"""The runner: holds claims until their instant, starts them, and tells how they ended."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from contextvars import copy_context

from tickwell.clock import Clock
from tickwell.domain.execution import Claim, Kind, OutcomeKind
from tickwell.domain.explanation import POSTPONED
from tickwell.domain.job import Job, rank
from tickwell.domain.outcome import Outcome
from tickwell.engine.claiming.lane import AHEAD, Lane
from tickwell.engine.claiming.tenant_capacity import TenantCapacity
from tickwell.engine.liveness.absence import AbsenceWatch
from tickwell.engine.running.attempt import Attempt
from tickwell.engine.running.deadlines import Deadlines
from tickwell.engine.running.give_back import give_back_late, is_missed
from tickwell.engine.running.reporter import Reporter
from tickwell.engine.running.start_guard import CROWD, StartGuard
from tickwell.engine.running.start_recorder import StartRecorder
from tickwell.engine.running.start_timer import StartTimer
from tickwell.ports.executor import Conditions, Executor, Killed, NoConditions, Sort
from tickwell.settings import Settings


class Runner:
    """The attempts in a worker's hands."""

    def __init__(
        self,
        executor: Executor,
        reporter: Reporter,
        clock: Clock,
        settings: Settings,
        guard: StartGuard,
        *,
        conditions: Conditions | None = None,
    ) -> None:
        self.presence = AbsenceWatch(clock)
        self.executor = executor
        self.conditions = conditions or NoConditions()
        self.reporter = reporter
        self.clock = clock
        self.settings = settings
        self.deadlines = Deadlines(clock, self._abandon)
        self.in_hand: dict[str, Attempt] = {}
        reporter.in_hand = self.in_hand.__len__
        self.starts = StartRecorder(reporter.store, clock, self.in_hand, reporter.events)
        self.starts.wake_planner = reporter.wake_planner
        self.guard = guard
        guard.tell = self._settle
        self.start_timer = StartTimer(clock, guard, self._start, self._is_crowded)
        self._trusted_until = float("-inf")
        #: Called with a job that this process may not run, and why; before its claim goes back.
        self.on_refusal: Callable[[Job, str], None] = lambda _job, _why: None
        #: Called with each claim whose capacity is free again, before another takes it.
        self.on_leave: Callable[[Claim], None] = lambda _claim: None
        #: In which attempts begin: not in that of the attempt whose end makes room for them.
        self._context = copy_context()

    async def refusal(self, job: Job) -> str:
        """Why this process may not run the job, by its settings or its condition; empty: it may."""
        why = await self.executor.refusal(job)
        return why or ("" if job.only_if is None else await self.conditions.refusal(job))

    def trust_until(self, instant: float) -> None:
        """The lease holds until this monotonic instant, counted from before the beat was sent."""
        self._trusted_until = instant

    def is_trusted(self) -> bool:
        """Whether something new may be started: not once the lease may have ended."""
        return self.clock.monotonic() < self._trusted_until

    def is_backed_up(self) -> bool:
        """Whether outcomes wait for a slow store: back-pressure, since they are never dropped.

        Not before as many as are claimed ahead: a burst ends faster than that is written, and with
        4 batches what was left of it at its instant waited 0.6 s for the ends of the others.
        """
        return self.reporter.backlog > AHEAD * self.settings.batch

    def known(self) -> set[tuple[str, int]]:
        """Attempts in hand, and those whose outcome is with the reporter."""
        claims = [attempt.claim for attempt in self.in_hand.values()]
        return {(claim.id, claim.attempt) for claim in [*claims, *self.reporter.unwritten()]}

    def started(self) -> list[Attempt]:
        """Attempts under way."""
        self.guard.tell_deferred()
        return [one for one in self.in_hand.values() if one.started is not None]

    def under_way(self) -> list[Attempt]:
        """The same, and those whose condition is being asked."""
        self.guard.tell_deferred()
        return [one for one in self.in_hand.values() if one.seated or one.started is not None]

    def not_started(self) -> list[Attempt]:
        """Attempts held for their instant or for capacity."""
        return [one for one in self.in_hand.values() if one.started is None]

    def take(self, claims: Sequence[Claim], lane: Lane) -> None:
        """Start what is due; hold what is not; put off what is more than its project's share."""
        now = self.clock.now()
        self._context = copy_context()
        lane.observe_sizes(claims)
        self.presence.note()
        away = self.presence.away
        due, worst = list[Attempt](), -(1 << 62)
        for claim in claims:
            if away is not None and is_missed(claim, away.since, now):
                # The reply was on its way while this process stood still: the policy comes first.
                self.reporter.report(claim, Outcome(kind=OutcomeKind.RELEASED), now)
                continue
            # The store's order stands, which knows more: fairness is part of its ranks.
            worst = max(worst, rank(claim.run_at, claim.job.priority))
            share = lane.share_of(claim.job.project)
            if not lane.has_room_for(share):
                self.reporter.report(claim, self._put_off(claim, share), now)
                continue
            attempt = Attempt(claim, lane, share, now, worst)
            self.in_hand[claim.id] = attempt
            lane.in_hand += 1
            lane.bytes += claim.size
            share.in_hand += 1
            if claim.run_at > now:
                self._hold(attempt)
            else:
                due.append(attempt)
        lane.ready.join(due)
        self._fill(lane, self.clock.monotonic())

    def _hold(self, attempt: Attempt) -> None:
        """Make the task now; at the instant it is only woken, when there is capacity for it.

        Creating 1,000 tasks at the instant itself cost a p99 of 18 ms, waking them 4 ms.
        """
        self.executor.prepare(attempt.claim.job)
        attempt.task = asyncio.create_task(self._attempt(attempt))
        self.start_timer.add(attempt)

    def _start(self, lane: Lane, attempts: list[Attempt]) -> None:
        give_back_late(self, attempts[0].claim.run_at)
        self.guard.put_starts_first(len(attempts))
        lane.ready.join(attempts)
        self._fill(lane, self.clock.monotonic())

    def _is_crowded(self, lane: Lane, share: TenantCapacity) -> bool:
        """Whether others than a project keep this worker busy, by their runs or their ends."""
        busy = lane.in_hand - share.in_hand + self.reporter.backlog
        return len(lane.shares) > 1 and busy >= CROWD

    def _fill(self, lane: Lane, now: float) -> None:
        while lane.ready and lane.busy < lane.capacity:
            attempt = lane.ready.popleft()
            if not attempt.is_waiting():
                continue
            share = attempt.share
            if share.is_full():
                share.held.join([attempt])
                continue
            attempt.seated = True
            lane.busy += 1
            share.seated += 1
            lane.moved_at = share.moved_at = now
            if attempt.start_signal is not None:
                attempt.start_signal.set_result(None)
            else:
                # Not by `asyncio.create_task`: two calls more, for every attempt.
                attempt.task = asyncio.get_running_loop().create_task(
                    self._attempt(attempt), context=self._context.copy()
                )

    async def _attempt(self, attempt: Attempt) -> None:
        """Run one attempt and report what happened; failure is an outcome, not an exception.

        What is held waits for its instant and for capacity first, and takes none until then.
        """
        attempt.entered = True
        try:
            if attempt.start_signal is not None and attempt.stop is None:
                await attempt.start_signal
            instead = await self._instead(attempt) if _has_condition(attempt.claim) else None
            started, now = self.clock.monotonic(), self.clock.now()
            if attempt.stop is not None or instead is not None:
                outcome = instead or attempt.interrupted()
            elif started >= self._trusted_until or not attempt.earliest < now < attempt.latest:
                # Its lease may be over, or would be before it ends: another runs it.
                outcome = Outcome(kind=OutcomeKind.RELEASED)
            else:
                attempt.started, attempt.started_at = started, now
                self.deadlines.watch(attempt, started)
                self.starts.notice(attempt)
                outcome = await self.executor.run(attempt.claim)
                outcome.started_at = None if outcome.not_here else now
        except asyncio.CancelledError as error:
            outcome = attempt.interrupted(killed=isinstance(error, Killed))
        except Exception as error:  # noqa: BLE001 - an executor that raises is a failed attempt
            outcome = attempt.failed(error)
        lane, task = attempt.lane, attempt.task
        if task is not None and task.cancelling() and self.reporter.is_cut_off():
            return  # with the event loop: another in its place would end in its midst
        if self.settings.rest and attempt.started is not None:
            await self._rest(attempt, outcome)
        if attempt.seated:
            self._leave(attempt)
        # Starts come first where many wait for capacity since their instant, a moment ago.
        if lane.moved_at < self.guard.starting_until and (lane.ready or self.guard.has_deferred):
            self.guard.defer(attempt, outcome, self.clock.now())
        else:
            self._tell(attempt, outcome)

    async def _instead(self, attempt: Attempt) -> Outcome | None:
        """What becomes of it instead of a run, by its job's condition. It has not started yet."""
        if attempt.stop is not None or not self.is_trusted():
            return None
        return await self.conditions.ask(attempt.claim)

    async def _rest(self, attempt: Attempt, outcome: Outcome) -> None:
        """Keep the capacity for a while after the attempt has ended: what it calls is spared."""
        self._tell(attempt, outcome)
        try:
            await self.clock.wait(asyncio.Event(), self.settings.rest)
        except asyncio.CancelledError:
            if self.reporter.is_cut_off():
                raise  # else it was given back while it rests: go on

    def _leave(self, attempt: Attempt) -> None:
        lane, share, now = attempt.lane, attempt.share, self.clock.monotonic()
        attempt.seated = False
        lane.busy -= 1
        share.seated -= 1
        lane.abandoned -= attempt.told
        lane.moved_at = share.moved_at = now
        if attempt.started is not None:
            seconds = now - attempt.started
            lane.observe(seconds)
            share.observe(seconds)
        self.on_leave(attempt.claim)
        if share.held and (first := share.next_held()) is not None:
            lane.ready.join([first])
        if lane.ready:
            self._fill(lane, now)
        if attempt.told:
            self.reporter.wake_worker()  # no report will tell it that capacity is free

    def _tell(self, attempt: Attempt, outcome: Outcome) -> None:
        if self.guard.has_deferred:
            self.guard.tell_deferred()  # it may be among them
        self._settle(attempt, outcome, self.clock.now())

    def _settle(self, attempt: Attempt, outcome: Outcome, at: int) -> None:
        """It is in hand no longer: from now on its end is with the reporter."""
        if attempt.told:
            return
        attempt.told = True
        attempt.lane.in_hand -= 1
        attempt.lane.bytes -= attempt.claim.size
        attempt.share.in_hand -= 1
        attempt.lane.abandoned += attempt.seated
        self.deadlines.forget(attempt)
        if self.in_hand.get(attempt.claim.id) is attempt:
            del self.in_hand[attempt.claim.id]
        if outcome.not_here:
            self.on_refusal(attempt.claim.job, outcome.error or "")
        if outcome.kind is not OutcomeKind.LOST:
            self.reporter.report(attempt.told_of(), outcome, at)

    def finish_early(self, attempt: Attempt, outcome: Outcome) -> None:
        """Tell an outcome without waiting for the task, which is cancelled if it is there."""
        self._tell(attempt, outcome)
        attempt.ask_to_stop(outcome.kind)

    def give_back(self, attempt: Attempt) -> None:
        """Release what has not started."""
        self.finish_early(attempt, Outcome(kind=OutcomeKind.RELEASED))

    def refuse(self, claims: Sequence[Claim]) -> None:
        """Give claims back that came too late to be taken."""
        now = self.clock.now()
        for claim in claims:
            self.reporter.report(claim, Outcome(kind=OutcomeKind.RELEASED), now)

    def _put_off(self, claim: Claim, share: TenantCapacity) -> Outcome:
        why = f"its project uses its {share.seats:,} of this worker's capacity"
        if share.limit:
            why = f"its project is at its limit of {share.limit:,} running attempts"
        error = f"{POSTPONED}{why}"
        delay = share.put_off(claim.id, self.clock.now())
        return Outcome(kind=OutcomeKind.RELEASED, error=error, delay=delay)

    def _abandon(self, attempt: Attempt) -> None:
        """Past its hard timeout: it ends on record and takes capacity until its task ends."""
        outcome = attempt.interrupted()
        if outcome.kind is OutcomeKind.TIMED_OUT:
            hard = attempt.claim.job.timeout.hard / 1000
            outcome.error = f"timed out: it did not stop within {hard:g} s"
            if attempt.lane.name == Sort.THREAD:
                outcome.error += ", and takes capacity until it ends"
        self._tell(attempt, outcome)

    def cancel(self, id: str, number: int, why: str | None = None) -> None:
        """Stop it: a person asked for it, or a policy, in these words."""
        attempt = self.in_hand.get(id)
        if attempt is None or attempt.claim.attempt != number or attempt.stop is not None:
            return
        attempt.why = why
        if attempt.task is None:
            self.finish_early(attempt, Outcome(kind=OutcomeKind.CANCELLED, error=why))
        else:
            attempt.ask_to_stop(OutcomeKind.CANCELLED)

    def disown(self) -> None:
        """The worker was declared lost: stop everything, report nothing that is stopped."""
        for attempt in list(self.in_hand.values()):
            self.finish_early(attempt, Outcome(kind=OutcomeKind.LOST))

    def give_back_stuck(self, lanes: Iterable[Lane]) -> None:
        """Claims that cannot start within the lead go back: another worker may be idle."""
        now = self.clock.monotonic()
        for lane in lanes:
            if lane.ready and now - lane.moved_at > max(self.settings.lead, 0.1):
                if lane.busy:  # else it was idle for want of capacity, not at work
                    lane.mean = max(lane.mean, (now - lane.moved_at) * 1000)
                for attempt in list(lane.ready):
                    self.give_back(attempt)
                lane.ready.clear()
            for _ in range(lane.excess()):
                self.give_back(lane.ready.pop())
            for share in lane.shares.values():
                if share.held:
                    self._tend(share, lane, now)

    def _tend(self, share: TenantCapacity, lane: Lane, now: float) -> None:
        """Seat what is held if its project may take more by now; put off what waits for long."""
        for _ in range(share.seats - share.seated):
            if (first := share.next_held()) is None:
                break
            lane.ready.join([first])
        self._fill(lane, now)
        most = 2 * share.startable(lane.capacity, lane.lead)
        if now - share.moved_at > max(self.settings.lead, 0.1):
            if share.seated:
                share.mean = max(share.mean, (now - share.moved_at) * 1000)
            most = 0
        while len(share.held) > most:
            attempt = share.held.pop()
            if attempt.is_waiting():
                self.finish_early(attempt, self._put_off(attempt.claim, share))


def _has_condition(claim: Claim) -> bool:
    """Whether something is asked before it starts: of fires only, a request is the answer."""
    return claim.job.only_if is not None and claim.kind is Kind.FIRE
