"""Promises about executions: one per fire time, attempts without holes, ends, gates."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import takewhile

from tickwell.domain.execution import (
    ENDED,
    PENDING,
    Claim,
    Execution,
    Kind,
    OutcomeKind,
    Reason,
    State,
)
from tickwell.domain.gate import Overlap
from tickwell.domain.planning import WAITING_IN_LINE
from tickwell.domain.policy import RETURN_BUDGET, OnMisfire
from tickwell.domain.rate import is_rate
from tickwell.stores.memory.tables import Row
from tickwell.testing.simulation.world import World

_HELD = frozenset({State.QUEUED, State.RUNNING})
#: Ended executions are looked at again each so many calls: looking costs more than the run.
EVERY = 50
_FAILURES = frozenset({OutcomeKind.FAILED, OutcomeKind.TIMED_OUT})


@dataclass(slots=True)
class Seen:
    """An execution as it was after the call before."""

    job_id: str
    kind: Kind
    fire_time: int
    state: State
    attempt: int
    ended: int
    reason: str | None
    #: The number of its last attempt when it was armed again or revived, the last time.
    revived: int | None = None
    #: A recall took it back; the policy may arm it again.
    recalled: bool = False


class Rows:
    """All executions that ever were, pruned ones included."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.seen: dict[str, Seen] = {}
        self._slots: dict[tuple[str, int], str] = {}
        self._live: dict[str, None] = {}
        #: By job, the fire times that were recalled, and that no plan has taken up.
        self.recalled: defaultdict[str, set[int]] = defaultdict(set)
        self._calls = 0

    def stands(self, claim: Claim) -> bool:
        """Whether the store still holds this attempt to be the one that runs."""
        row = self.world.store.tables.rows.get(claim.id)
        return (
            row is not None
            and row.execution.state is State.RUNNING
            and row.execution.attempt == claim.attempt
        )

    def is_ended(self, claim: Claim) -> bool:
        """Whether this attempt is on record."""
        row = self.world.store.tables.rows.get(claim.id)
        return row is not None and _last(row.execution) >= claim.attempt

    def look(self, method: str, now: int, *, fully: bool) -> None:
        """Compare with how it was: what is new or live, now and then all."""
        self._calls += 1
        rows = self.world.store.tables.rows
        if fully or self._calls % EVERY == 0:
            ids = list(rows)
        else:
            ids = [id for id in (*self._live, *self._newest()) if id in rows]
        jobs: Counter[str] = Counter()
        gates: Counter[str] = Counter()
        self._live.clear()
        for id in ids:
            row = rows[id]
            one, seen = row.execution, self.seen.get(id)
            if seen is None:
                seen = self._new(id, one)
            elif (
                one.state is not seen.state
                or one.attempt != seen.attempt
                or _last(one) != seen.ended
                or one.reason != seen.reason
            ):
                self._changed(row, seen, method, now)
            if one.state not in ENDED:
                self._live[id] = None
                self._count(row, seen, jobs, gates)

    def _newest(self) -> list[str]:
        """Rows stand in the order in which they were made."""
        rows = reversed(self.world.store.tables.rows)
        return list(takewhile(lambda row: row not in self.seen, rows))[::-1]

    def _count(self, row: Row, seen: Seen, jobs: Counter[str], gates: Counter[str]) -> None:
        one = row.execution
        if row.overlap is not Overlap.ALLOW and _is_live(one, seen):
            jobs[one.job_id] += 1
            if jobs[one.job_id] > 1:
                raise self.world.fail(f"two executions of {one.job_id} are live at once: {one}")
        # With a rate, one that has started may have given its permit back.
        has_permit = row.holds_key or not is_rate(row.gate)
        if row.gate is not None and one.state in _HELD and has_permit:
            gates[row.gate] += 1
            if gates[row.gate] > row.limit:
                raise self.world.fail(f"more than {row.limit} hold a place in {row.gate}: {one}")

    def _new(self, id: str, one: Execution) -> Seen:
        slot = one.job_id, one.fire_time
        if one.kind is Kind.FIRE:
            other = self._slots.setdefault(slot, id)
            if other != id:
                raise self.world.fail(f"two executions of {slot}: {other} and {id}")
        if one.attempt or one.state in {State.RUNNING, State.SUCCEEDED, State.DEAD}:
            raise self.world.fail(f"{id} was born {one.state} with attempt {one.attempt}")
        self._overlap(one)
        seen = self.seen[id] = Seen(
            one.job_id, one.kind, one.fire_time, one.state, one.attempt, 0, one.reason
        )
        return seen

    def _changed(self, row: Row, seen: Seen, method: str, now: int) -> None:
        one = row.execution
        self._transition(one, seen, method)
        if one.state is State.SKIPPED and one.reason == Reason.MISFIRE:
            self._recalled(row, seen, method, now)
        self._numbers(one, seen, method)
        if seen.state is State.SKIPPED:
            self._is_taken_up(one, seen)
            self.recalled[one.job_id].discard(one.fire_time)
        if seen.state is State.SKIPPED or (method == "revive" and seen.state is State.DEAD):
            seen.revived = _last(one)
        self._budget(one, seen)
        if seen.state is not State.BLOCKED:  # else its instant had come, and it was let wait
            self._overlap(one)
        seen.state, seen.attempt, seen.reason = one.state, one.attempt, one.reason
        seen.ended = _last(one)

    def _transition(self, one: Execution, seen: Seen, method: str) -> None:
        before, after = seen.state, one.state
        if before is after and (before not in ENDED or one.reason == seen.reason):
            return
        if before in ENDED:
            revived = before is State.DEAD and method == "revive"
            if not (revived or self._is_armed_again(seen, method)):
                raise self.world.fail(f"{one.id} was {before} and is {after} by {method}")
        if after is State.RUNNING and method != "claim":
            raise self.world.fail(f"{one.id} is running by {method}")
        if before is State.RUNNING and method != "finish":
            raise self.world.fail(f"{one.id} stopped running by {method}")

    def _is_armed_again(self, seen: Seen, method: str) -> bool:
        """Whether a plan took up a slot that a change withdrew, or the policy one recalled."""
        if seen.state is not State.SKIPPED:
            return False
        if seen.reason == Reason.MISFIRE:
            # A change answers what is due, too: one that pauses withdraws it in the same write.
            return seen.recalled and method in {"fire_due", "change_jobs"}
        return seen.reason == Reason.WITHDRAWN

    def _is_taken_up(self, one: Execution, seen: Seen) -> None:
        """What was recalled may be skipped by the plan itself, for a run that was live then.

        Or since a newer one, taken up by the same plan, takes its place.
        """
        tables = self.world.store.tables
        if seen.reason != Reason.MISFIRE or one.reason != Reason.OVERLAP:
            return
        if tables.rows[one.id].overlap is Overlap.CANCEL_RUNNING:
            return
        holder = tables.rows[tables.job_gate[one.job_id]].execution
        if holder.is_untried or holder.fire_time > one.run_at:
            raise self.world.fail(f"{one.id} was recalled, and skipped for {holder}")

    def _recalled(self, row: Row, seen: Seen, method: str, now: int) -> None:
        """A recall takes back what came due and was not tried, once, and what would not be in time.

        What waits for others of its job is not late if they are, too.
        """
        one, entry = row.execution, self.world.store.tables.jobs[row.execution.job_id]
        job = entry.job
        if job.trigger.follows_finish:
            is_sound = method == "settle" and job.misfire.policy is OnMisfire.SKIP
        else:
            is_sound = method == "change_jobs" and not seen.recalled
            seen.recalled = True
            self.recalled[one.job_id].add(one.fire_time)
        is_late = one.run_at < now - job.misfire.grace
        waits = one.run_at <= now and job.overlap in WAITING_IN_LINE
        untried = all(each.is_untried for each in one.attempts)
        if not (is_sound and untried and (is_late or waits)):
            raise self.world.fail(f"{one.id} was recalled by {method}: {one}")

    def _numbers(self, one: Execution, seen: Seen, method: str) -> None:
        """Attempts are 1, 2, 3 …: the number rises at each claim by one and never falls.

        Of those put off in a row the newest is kept.
        """
        risen = one.attempt - seen.attempt
        if risen and not (method == "claim" and risen == 1 and one.state is State.RUNNING):
            raise self.world.fail(f"{one.id}: attempt {seen.attempt} to {one.attempt} by {method}")
        whole = _last(one) == one.attempt - (one.state is State.RUNNING)
        numbers = [attempt.number for attempt in one.attempts]
        for before, attempt in zip([0, *numbers], one.attempts, strict=False):
            whole &= attempt.number == before + 1 or (
                attempt.is_untried and before < attempt.number
            )
        if not whole:
            raise self.world.fail(f"{one.id}: attempts {numbers} of {one.attempt}, {one.state}")

    def _overlap(self, one: Execution) -> None:
        """Whether a job is live is asked at the instant of the fire, and not before."""
        if one.state is not State.SKIPPED or one.reason != Reason.OVERLAP:
            return
        if (one.ended_at or 0) < one.run_at and one.run_at > self.world.highest_time():
            raise self.world.fail(f"{one.id} was skipped for overlap before its instant")

    def _budget(self, one: Execution, seen: Seen) -> None:
        """Failures never exceed the budget; a dead letter has spent it, or says why not."""
        since = seen.revived or 0
        outcomes = Counter(each.outcome for each in one.attempts if each.number > since)
        failures = sum(outcomes[kind] for kind in _FAILURES)
        entry = self.world.store.tables.jobs.get(one.job_id)
        most = entry.job.retry.max_attempts if entry else failures
        losses = entry.job.retry.max_losses if entry else None
        spent = losses is not None and outcomes[OutcomeKind.LOST] > losses + RETURN_BUDGET
        if failures > most or spent or one.charged < 0:
            raise self.world.fail(f"{one.id}: {dict(outcomes)}, {one.charged} charged of {most}")
        if one.state is State.DEAD and not one.reason:
            raise self.world.fail(f"{one.id} died without a reason")


def _last(one: Execution) -> int:
    """The number of the last attempt that has ended."""
    return one.attempts[-1].number if one.attempts else 0


def _is_live(one: Execution, seen: Seen) -> bool:
    """Holds its job's gate: from queued to the end, retries included."""
    if one.state in _HELD:
        return True
    return seen.revived is None and one.attempt > 0 and one.state in PENDING
