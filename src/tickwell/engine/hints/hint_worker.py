"""A worker whose seats are the threads of another task queue's worker, woken by hints."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Protocol

from tickwell.clock import Clock
from tickwell.domain.execution import Claim
from tickwell.domain.seconds import Seconds
from tickwell.engine.claiming.lane import Lane
from tickwell.engine.claiming.worker import Worker
from tickwell.engine.running.runner import Runner
from tickwell.ports.executor import Sort
from tickwell.ports.store import Store
from tickwell.settings import Settings

#: Seconds that a caller works at most before it is released, so that its own worker stays
#: responsive: it counts tasks, answers remote commands and shuts down between two messages.
LONGEST = 1.0
#: Seconds ahead of their instant that executions are claimed. More than the dispatcher's, so that
#: a hint is never too early for the claim; and short, since a caller waits meanwhile.
LEAD = 0.2
#: Seconds of work that short attempts are claimed beyond the seats, so that each needs no claim of
#: its own. Few: they are lost with a process that is killed, and wait behind an attempt that turns
#: out long. Without any, 3,000 no-ops took twice the time.
BEYOND = 0.05


class Caller(Protocol):
    """The thread of another task queue's worker, which waits until its message is handled."""

    def call(self, function: Callable[[], object]) -> None:
        """Call a function in the waiting thread."""
        ...

    def release(self) -> None:
        """Wait no longer: there is nothing more to run here."""
        ...


@dataclass(slots=True, eq=False)
class _Seat:
    """A caller that waits, until when it takes new work, and whether its thread runs a handler."""

    caller: Caller
    until: float
    is_busy: bool = False


class HintInbox:
    """Passes hints from the worker of another task queue to the engine in the same process."""

    def __init__(self, name: str, capacity: int) -> None:
        #: The worker's name in the workers list; a suffix distinguishes its restarts.
        self.name = name
        #: How many hints the other worker handles at once.
        self.capacity = capacity
        #: Whether the process shuts down: nothing is claimed any more.
        self.closed = False
        self.wake: Callable[[], None] = lambda: None
        #: Hints that the engine has not seen yet, and ids that it is to claim.
        self._new: list[tuple[str, Caller]] = []
        self.ids: dict[str, None] = {}
        #: One for each caller, oldest first; and those whose thread runs the handler of an attempt.
        self.seats: list[_Seat] = []
        self._running: dict[tuple[str, int], _Seat] = {}
        #: The engine replaces it by its own.
        self.lane = Lane(Sort.THREAD, 0, 1, 0.0)

    def add(self, id: str, caller: Caller) -> None:
        """Run this execution if it can be claimed, and then whatever else is due."""
        if self.closed:
            caller.release()
            return
        self._new.append((id, caller))
        self.wake()

    def open(self) -> None:
        """Take hints, for an engine that starts."""
        self.closed = False

    def admit(self, now: float) -> None:
        """Make seats of the callers that have come."""
        new, self._new = self._new, []
        self.ids |= dict.fromkeys(id for id, _ in new)
        self.seats += [_Seat(caller, now + LONGEST) for _, caller in new]
        self.lane.capacity = len(self.seats)

    def release(self, keep: int, now: float = float("inf")) -> None:
        """Release idle callers whose time is over, until `keep` of them are left."""
        for seat in list(self.seats):
            if len(self.seats) <= keep or seat.until > now:
                break
            if not seat.is_busy:
                self.seats.remove(seat)
                seat.caller.release()
        self.lane.capacity = len(self.seats)

    def close(self) -> None:
        """Start nothing more, and release the callers that run nothing, even if the store is away.

        Their executions stay queued: the dispatcher sends other hints.
        """
        self.closed = True
        self._release_new()
        self.release(self.lane.busy)
        self.wake()

    def end(self) -> None:
        """Release all callers: the engine has ended."""
        self.closed = True
        self._release_new()
        for seat in self.seats:
            seat.caller.release()
        self.seats.clear()
        self.lane.capacity = 0

    def _release_new(self) -> None:
        for _, caller in self._new:
            caller.release()
        self._new.clear()

    def thread_for(self, claim: Claim) -> Callable[[Callable[[], object]], None] | None:
        """The thread of a caller that waits, for the handler of this attempt; None: none waits."""
        seat = next((seat for seat in self.seats if not seat.is_busy), None)
        if seat is None:
            return None
        seat.is_busy = True
        self._running[claim.id, claim.attempt] = seat
        return seat.caller.call

    def leave(self, claim: Claim) -> None:
        """The attempt has ended: the thread that ran its handler waits again."""
        seat = self._running.pop((claim.id, claim.attempt), None)
        if seat is not None:
            seat.is_busy = False


class HintWorker(Worker):
    """Claims what hints name, then what else is due, and never more than its callers can start.

    A caller is released when nothing is left for it, or when it has worked for long enough.
    """

    def __init__(
        self,
        store: Store,
        clock: Clock,
        settings: Settings,
        runner: Runner,
        *,
        lanes: Mapping[Lane, frozenset[str]],
        new_id: Callable[[], str],
        inbox: HintInbox,
    ) -> None:
        settings = replace(settings, lead=Seconds(min(settings.lead, LEAD)))
        lane = Lane(Sort.THREAD, inbox.capacity, settings.batch, min(settings.lead, BEYOND))
        lane.capacity = 0  # a seat is a caller
        all_lanes = {lane: frozenset[str]().union(*lanes.values())}
        super().__init__(store, clock, settings, runner, lanes=all_lanes, new_id=new_id)
        self.inbox, self.lane = inbox, lane
        inbox.lane = lane
        runner.on_leave = self._on_leave
        # Few attempts are in hand at once, so without this each would be a write of its own.
        runner.reporter.gathers = True
        #: Whether the last claim was for what hints named: then others may be due as well.
        self._was_hinted = False

    def learn(self, abilities: Mapping[Sort, frozenset[str]]) -> None:
        self.lanes = {self.lane: frozenset[str]().union(*abilities.values())}

    @property
    def capacity(self) -> int:
        return self.inbox.capacity

    def new_worker_id(self) -> str:
        return f"{self.inbox.name}/{self.new_id()}"

    def is_draining(self) -> bool:
        return self.draining or self.inbox.closed

    def full(self) -> list[str]:
        return super().full() if self.lane.busy >= self.capacity else []

    async def step(self) -> float:
        if self.inbox.closed:
            self.release_waiting()
        return await super().step()

    def _room(self, lane: Lane) -> tuple[int, bool]:
        now, inbox = self.clock.monotonic(), self.inbox
        inbox.admit(now)
        if lane.ready:
            self.runner.take([], lane)  # a caller that has come starts it
        # What a hint names is claimed even if its caller has waited long for the store.
        is_asked = bool(inbox.ids) or lane in self._unanswered
        if is_asked or (inbox.seats and inbox.seats[-1].until > now):
            return super()._room(lane)
        return 0, False

    async def _claim(
        self,
        lane: Lane,
        abilities: frozenset[str],
        limit: int,
        ids: tuple[str, ...] | None = None,
    ) -> list[Claim]:
        inbox = self.inbox
        if lane not in self._unanswered:
            ids = tuple(islice((id for id in inbox.ids if id not in self.runner.in_hand), limit))
            inbox.ids.clear()
            self._was_hinted = bool(ids)
        return await super()._claim(lane, abilities, limit, ids or None)

    async def _rest(self, asked_at: int | None) -> float:
        lane, inbox = self.lane, self.inbox
        if asked_at is None:
            inbox.ids.clear()  # what is in hand already comes first
        elif self._was_hinted:
            return 0.0
        if not self.runner.is_backed_up():
            inbox.release(max(lane.busy, lane.in_hand + lane.abandoned))
        rest = self.settings.lead if lane.ready or lane.held() else self.settings.poll
        return min(rest, self.shares.rest(self.lanes))

    def _on_leave(self, claim: Claim) -> None:
        inbox, lane = self.inbox, self.lane
        inbox.leave(claim)
        if inbox.closed:
            inbox.release(lane.busy)
            return
        # The last one stays for what is in hand; `_rest` releases it.
        inbox.release(max(lane.busy, 1), self.clock.monotonic())
        if not lane.ready or lane.room():
            inbox.wake()
