"""What becomes of an execution when one of its attempts has ended. All of it is decided here."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf
from typing import Any

from tickwell.domain.execution import Claim, OutcomeKind, Reason, State
from tickwell.domain.explanation import AT_MOST_ONCE, GAVE_UP, NOT_RETRIED, OVERDUE
from tickwell.domain.job import rank
from tickwell.domain.policy import APART, LONGEST_WAIT, RETURN_BUDGET, Delivery
from tickwell.ids import spread

#: Where an attempt that never started may leave its execution.
BEFORE_START = frozenset({State.WAITING, State.CANCELLED, State.SKIPPED})


@dataclass(slots=True, kw_only=True)
class Outcome:
    """How an attempt ended, as its executor tells it."""

    kind: OutcomeKind
    #: None when the attempt never started.
    started_at: int | None = None
    error: str | None = None
    result: Any = None
    #: False: trying again is pointless.
    retry: bool = True
    #: Why, in the words of the handler or the receiver that said so.
    why_final: str = ""
    #: Milliseconds to wait instead of the backoff: Retry-After, a snooze, or put off untried.
    delay: int | None = None
    #: The job is to be paused for this reason.
    pause: str | None = None
    #: It waits for the first of these steps to become final, and no longer than the delay.
    awaits: tuple[str, ...] = ()
    #: Of a lost attempt: many others were lost with it, so that none is known to be the cause.
    in_crowd: bool = False
    #: This process may not run the job, by its settings or for want of a key; another one may.
    not_here: bool = False


@dataclass(slots=True, kw_only=True)
class Report:
    """What an ended attempt does to its execution; stores apply it if the attempt stands."""

    claim: Claim
    outcome: OutcomeKind
    state: State
    reason: str | None
    #: When the next attempt may start, if one follows.
    run_at: int
    rank: int
    charged: int
    lost: int
    returned: int
    started_at: int | None
    ended_at: int
    error: str | None = None
    result: Any = None
    pause: str | None = None
    #: The next attempt may start at once if one of these steps is final by now.
    awaits: tuple[str, ...] = ()

    def answered(self) -> Report:
        """The same where one of the steps that it awaits was final before it was applied."""
        earlier = self.run_at - self.ended_at
        return replace(self, run_at=self.ended_at, rank=self.rank - earlier)

    @property
    def may_have_started(self) -> bool:
        """A lost attempt may have started without anybody knowing, so it counts as started."""
        return self.started_at is not None or self.outcome is OutcomeKind.LOST

    @property
    def is_untried(self) -> bool:
        """The claim was given back before anything started: put off, or at a shutdown.

        One that may be put off for hours keeps the newest of such attempts in a row.
        """
        return self.outcome is OutcomeKind.RELEASED and self.started_at is None


def decide(claim: Claim, outcome: Outcome, now: int) -> Report:
    """The report for an attempt that ended now. `attempt` itself never falls: it is the fence."""
    report = Report(
        claim=claim,
        outcome=outcome.kind,
        state=State.SUCCEEDED,
        reason=None,
        run_at=now,
        rank=0,
        charged=claim.charged,
        lost=claim.lost,
        returned=claim.returned,
        started_at=outcome.started_at,
        ended_at=now,
        error=outcome.error,
        result=outcome.result,
        pause=outcome.pause,
        awaits=outcome.awaits,
    )
    if outcome.kind is not OutcomeKind.SUCCEEDED:
        report.charged, report.lost, report.returned = _counts(claim, outcome)
        _settle(report, outcome, now)
    return report


def decide_or_fail(claim: Claim, outcome: Outcome, now: int) -> Report:
    """Like `decide`, but a policy that cannot be computed ends its own execution as dead.

    One bad definition must not keep the other reports of its batch from being written.
    """
    try:
        return decide(claim, outcome, now)
    except Exception as error:  # noqa: BLE001 - whatever it is, the outcome is not dropped for it
        failed = Outcome(
            kind=OutcomeKind.FAILED,
            started_at=outcome.started_at,
            error=f"{outcome.error}\nthe retry policy cannot be computed: {error!r}",
            retry=False,
            delay=0,
        )
        return decide(claim, failed, now)


def _is_untried(outcome: Outcome) -> bool:
    """Whether the claim was given back before anything started."""
    return outcome.kind is OutcomeKind.RELEASED and outcome.started_at is None


def _counts(claim: Claim, outcome: Outcome) -> tuple[int, int, int]:
    """Charged at the claim; given back where the attempt says nothing about the target."""
    kind = outcome.kind
    if _is_untried(outcome) or kind is OutcomeKind.SKIPPED:
        # Workers that claim more than they can start must cost no execution its budget.
        return claim.charged - 1, claim.lost, claim.returned
    if outcome.awaits:
        # Once for each question, and not again and again.
        return claim.charged - 1, claim.lost, claim.returned
    is_returned = outcome.in_crowd or kind in {OutcomeKind.RELEASED, OutcomeKind.SNOOZED}
    budget = claim.job.retry.max_snoozes
    if kind is not OutcomeKind.SNOOZED:  # which takes nothing from the others
        budget = max(budget, RETURN_BUDGET)
    if is_returned and claim.returned < budget:
        return claim.charged - 1, claim.lost, claim.returned + 1
    if kind is OutcomeKind.LOST:
        return claim.charged - 1, claim.lost + 1, claim.returned
    return claim.charged, claim.lost, claim.returned


def _settle(report: Report, outcome: Outcome, now: int) -> None:
    claim = report.claim
    if outcome.kind is OutcomeKind.CANCELLED:
        report.state, report.reason = State.CANCELLED, outcome.error or "cancelled"
        return
    if outcome.kind is OutcomeKind.SKIPPED:
        report.state, report.reason = State.SKIPPED, Reason.CONDITION
        return
    if _is_untried(outcome):
        # Without a delay it keeps its place in the queue.
        put_off = claim.run_at if outcome.delay is None else now + outcome.delay
        report.run_at = max(claim.run_at, put_off)
    else:
        report.run_at = now + _delay(claim, outcome, report)
        report.reason = None if outcome.awaits else _why_final(report, outcome)
    if report.reason:
        report.state, report.run_at = State.DEAD, now
    else:
        report.state, report.rank = State.WAITING, rank(report.run_at, claim.job.priority)


def _why_final(report: Report, outcome: Outcome) -> str | None:
    """Why no attempt follows, or None when one does."""
    claim, kind, retry = report.claim, outcome.kind, report.claim.job.retry
    if claim.job.delivery is Delivery.AT_MOST_ONCE and report.may_have_started:
        lost = "its worker was lost, and the attempt may have started"
        return f"{AT_MOST_ONCE}{lost if report.started_at is None else 'the attempt had started'}"
    if kind is OutcomeKind.LOST and report.lost >= (retry.max_losses or inf):
        return f"lost {report.lost} times"
    if not outcome.retry:
        return f"{GAVE_UP}{outcome.why_final}" if outcome.why_final else NOT_RETRIED
    if report.charged >= retry.max_attempts:
        return f"{report.charged} of {retry.max_attempts} attempts"
    if retry.max_age is not None and report.run_at - claim.fire_time > retry.max_age:
        return OVERDUE
    return None


def _delay(claim: Claim, outcome: Outcome, report: Report) -> int:
    if outcome.delay is not None:
        asked = max(outcome.delay, 0)
        return asked if outcome.kind is OutcomeKind.SNOOZED else min(asked, LONGEST_WAIT)
    if outcome.kind is OutcomeKind.RELEASED:
        return 0
    retry = claim.job.retry
    if outcome.kind is OutcomeKind.LOST:
        # What was lost together does not come back together: one of them may have killed the
        # worker, and of 60 neighbours that met it again at once 13 to 47 died with it.
        losses = report.lost if report.lost > claim.lost else report.lost + report.returned
        apart = spread(f"{claim.id}:lost", 1 + (APART if losses == 1 else 15 * APART))
        return apart if report.lost < 2 else apart + retry.delay_after(report.lost - 1, claim.id)
    return retry.delay_after(report.charged, claim.id)
