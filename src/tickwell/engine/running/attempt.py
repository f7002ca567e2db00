"""One attempt in a worker's hands."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from tickwell.domain.execution import Claim, OutcomeKind
from tickwell.domain.outcome import Outcome
from tickwell.domain.policy import Timeout
from tickwell.engine.claiming.lane import Lane
from tickwell.engine.claiming.tenant_capacity import TenantCapacity

#: Milliseconds from its instant within which an attempt is started. Its deadline is a minute after
#: the hard timeout of one that starts at once; what is left is for its report.
START_WITHIN = 45_000
#: Milliseconds by which no clock is read wrongly: who would start earlier than that was claimed by
#: a clock that has been set back since.
EARLIER = 1_000
#: Bytes of a payload that is not kept once its attempt has ended.
LARGE = 16 * 1024


class Attempt:
    """A claim from the moment it is handed over until its outcome is with the reporter."""

    __slots__ = (
        "claim",
        "earliest",
        "entered",
        "expired",
        "is_recorded",
        "lane",
        "latest",
        "rank",
        "seated",
        "share",
        "start_signal",
        "started",
        "started_at",
        "stop",
        "task",
        "tick",
        "told",
        "why",
    )

    def __init__(
        self, claim: Claim, lane: Lane, share: TenantCapacity, now: int, rank: int = 0
    ) -> None:
        self.claim = claim
        #: Its rank among those that wait for capacity.
        self.rank = rank
        #: It starts between them: due, and with its whole hard timeout before it counts as lost.
        self.earliest = claim.run_at - EARLIER
        self.latest = min(max(now, claim.run_at) + START_WITHIN, claim.deadline)
        self.lane = lane
        self.share = share
        self.task: asyncio.Task[None] | None = None
        #: The task has begun: a task that is cancelled before that runs none of its own code.
        self.entered = False
        #: Set at its instant, once there is capacity, for a task that was prepared.
        self.start_signal: asyncio.Future[None] | None = None
        #: It takes some of the lane's capacity.
        self.seated = False
        #: Why it was asked to end, if it was.
        self.stop: OutcomeKind | None = None
        #: Who cancelled it, in words, if it was not a person.
        self.why: str | None = None
        #: Monotonic and store time of the start; None while it is held or ready.
        self.started: float | None = None
        self.started_at: int | None = None
        #: The store has its start.
        self.is_recorded = False
        #: Its soft timeout has passed, whatever it was asked to stop for.
        self.expired = False
        #: Its outcome is with the reporter; whatever the task still does counts for nothing.
        self.told = False
        #: The bucket of the deadline wheel that it is in.
        self.tick = 0

    def is_waiting(self) -> bool:
        """Whether it would still be started: not given back, nor asked to stop meanwhile."""
        # Not by whether it was told: who is asked before its task begins may be told of later.
        return self.stop is None and (self.start_signal is None or not self.start_signal.done())

    def ask_to_stop(self, why: OutcomeKind) -> None:
        """Cancel the task; the first reason given stands, and comes with the cancellation."""
        if self.stop is None:
            self.stop = why
        if self.task is not None and self.entered:
            self.task.cancel(self.stop)

    def told_of(self) -> Claim:
        """The claim as its report needs it, which may wait for a slow store."""
        return self.claim if self.claim.size < LARGE else replace(self.claim, payload=None)

    def interrupted(self, *, killed: bool = False) -> Outcome:
        """The outcome of an attempt whose task ended by cancellation, or was ended by force."""
        kind, timeout = self.stop or OutcomeKind.FAILED, self.claim.job.timeout
        error = {
            OutcomeKind.TIMED_OUT: _timed_out(timeout, killed=killed),
            OutcomeKind.CANCELLED: self.why or "cancelled on request",
            OutcomeKind.FAILED: "the handler cancelled itself",
        }.get(kind)
        return Outcome(kind=kind, started_at=self.started_at, error=error)

    def failed(self, error: Exception) -> Outcome:
        """The outcome of an attempt whose executor raised."""
        return Outcome(kind=OutcomeKind.FAILED, started_at=self.started_at, error=_in_words(error))


def _timed_out(timeout: Timeout, *, killed: bool) -> str:
    """The limit that ended it: one that stopped when asked ended by the soft one."""
    if killed:
        return f"timed out: it did not stop within {timeout.hard / 1000:g} s, and was killed"
    return f"timed out after {timeout.soft / 1000:g} s"


def _in_words(error: Exception) -> str:
    try:
        return f"{type(error).__name__}: {error}"
    except Exception:  # noqa: BLE001 - an error that cannot be printed frees its capacity all the same
        return type(error).__name__
