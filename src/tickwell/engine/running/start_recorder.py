"""The start recorder: writes when attempts started, for those that take longer than a moment."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tickwell.clock import Clock
from tickwell.domain.event import AttemptsStarted, AttemptStart, Events
from tickwell.domain.execution import Claim, Start
from tickwell.engine.running.attempt import Attempt
from tickwell.engine.running.reporter import UNTIL_WOKEN
from tickwell.errors import StoreError
from tickwell.ports.store import QueueStore

#: Seconds that an attempt has to run before its start is written: most end sooner, and cost
#: nothing. The end of each is reported with its start anyway.
SOON = 0.1
#: Seconds between two looks: each goes over all attempts in hand.
APART = 1.0


class StartRecorder:
    """One write for all attempts of the worker, within `SOON` of a start, then once a second."""

    name = "starts"

    def __init__(
        self,
        store: QueueStore,
        clock: Clock,
        in_hand: Mapping[str, Attempt],
        events: Events | None = None,
    ) -> None:
        self.events = events or Events()
        self.store = store
        self.clock = clock
        self.in_hand = in_hand
        self.wake: Callable[[], None] = lambda: None
        #: Called when it is known from when on the permits of rates can be had again.
        self.wake_planner: Callable[[], None] = lambda: None
        #: Called with each start of a job that checks in elsewhere.
        self.on_check_in: Callable[[Claim], None] = lambda _claim: None
        #: Every start is on record: the next one has to wake it.
        self._rests = True
        self._due: float | None = None
        self._looked_at = float("-inf")

    def notice(self, attempt: Attempt) -> None:
        """An attempt starts."""
        if self._rests:
            self._rests = False
            self.wake()
        if attempt.claim.job.check_in is not None:
            self.on_check_in(attempt.claim)
        if self.events.wants_starts:
            start = AttemptStart(attempt.claim, attempt.started_at or 0)
            self.events.emit(AttemptsStarted(starts=[start]))

    async def step(self) -> float:
        """Write what is still under way, if it is time."""
        if self._rests:
            return UNTIL_WOKEN
        now = self.clock.monotonic()
        if self._due is None:
            self._due = max(now + SOON, self._looked_at + APART)
        if now < self._due:
            return self._due - now
        self._due, self._looked_at = now + APART, now
        if unwritten := self._unwritten():
            await self._write([one for one in unwritten if (one.started or 0) <= now - SOON])
        if self._unwritten():
            return APART
        self._rests, self._due = True, None
        return UNTIL_WOKEN

    def _unwritten(self) -> list[Attempt]:
        return [
            one for one in self.in_hand.values() if one.started is not None and not one.is_recorded
        ]

    async def _write(self, attempts: list[Attempt]) -> None:
        if not attempts:
            return
        starts = [
            Start(one.claim.id, one.claim.attempt, one.started_at)
            for one in attempts
            if one.started_at is not None
        ]
        try:
            written = set(await self.store.record_starts(starts))
        except StoreError:  # reported by the loops, which meet it too
            return
        for one in attempts:
            one.is_recorded = one.claim.id in written
        if any(one.is_recorded and one.claim.job.rate is not None for one in attempts):
            self.wake_planner()
