"""A worker that claims only the executions that hints name."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any, Protocol

from tickwell.domain.execution import Claim
from tickwell.engine.worker import Worker


class Caller(Protocol):
    """The thread of another task queue's worker, which waits until its message is handled."""

    def call(self, function: Callable[[], object]) -> None:
        """Call a function in the waiting thread."""
        ...

    def release(self) -> None:
        """Wait no longer: the attempt has ended, or there is nothing to run here."""
        ...


class HintInbox:
    """Passes hints from the worker of another task queue to the engine in the same process."""

    def __init__(self, name: str, capacity: int) -> None:
        #: The worker's name in the workers list; a suffix distinguishes its restarts.
        self.name = name
        #: How many hints the other worker handles at once.
        self.capacity = capacity
        #: Whether the process shuts down: hints are not claimed any more.
        self.closed = False
        self.wake: Callable[[], None] = lambda: None
        #: Callers by execution: before the claim, in the claim that is sent, and in attempts.
        self.waiting: dict[str, list[Caller]] = {}
        self.asked: dict[str, list[Caller]] = {}
        self.running: dict[str, list[Caller]] = {}

    def add(self, id: str, caller: Caller) -> None:
        """Run this execution if it can be claimed."""
        if self.closed:
            caller.release()
            return
        self.waiting.setdefault(id, []).append(caller)
        self.wake()

    def open(self) -> None:
        """Take hints, for an engine that starts."""
        self.closed = False

    def close(self) -> None:
        """Claim nothing more, and release who waits for a claim, even if the store is away.

        The executions stay queued: the dispatcher sends other hints.
        """
        self.closed = True
        waiting, self.waiting = self.waiting, {}
        asked, self.asked = self.asked, {}
        for callers in (*waiting.values(), *asked.values()):
            release(callers)

    def thread_for(self, id: str) -> Callable[[Callable[[], object]], None] | None:
        """The thread that waits for this execution, for its handler; None: none waits."""
        callers = self.running.get(id)
        return callers[0].call if callers else None


class HintWorker(Worker):
    """Claims in batches: hints that arrive during a claim go into the next one."""

    def __init__(self, *arguments: Any, inbox: HintInbox, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.inbox = inbox
        self.runner.on_end = self._on_end
        # Few attempts are in hand at once, so without this each would be a write of its own.
        self.runner.reporter.gathers = True

    @property
    def capacity(self) -> int:
        return self.inbox.capacity

    def new_worker_id(self) -> str:
        return f"{self.inbox.name}/{self.new_id()}"

    def is_draining(self) -> bool:
        return self.draining or self.inbox.closed

    async def _step(self) -> float:
        await self.shares.look(self.lanes)
        await self._find_lost_claims()
        self.runner.give_back_stuck(self.lanes)
        await self.queues.look()
        if not self.runner.is_backed_up():
            await self._claim_hinted()
        self._notice_idle()
        if self.inbox.waiting:
            return 0.0
        is_waiting = any(lane.ready or lane.held() for lane in self.lanes)
        return self.settings.lead if is_waiting else self.settings.poll

    async def _claim_hinted(self) -> None:
        if not self.inbox.asked:
            self._take_hints()
        if not self.inbox.asked:
            return
        lane, *_ = self.lanes
        abilities = frozenset[str]().union(*self.lanes.values())
        ids = tuple(self.inbox.asked)
        claims = await self._claim(lane, abilities, len(ids), ids)
        asked, self.inbox.asked = self.inbox.asked, {}
        if self.is_draining():
            self.runner.refuse(claims)
            claims = []
        for claim in claims:
            self.inbox.running[claim.id] = asked.pop(claim.id, [])
            self._run(claim)
        for id, callers in asked.items():
            if id in self.runner.in_hand:  # of an earlier claim, whose reply was lost
                self.inbox.running.setdefault(id, []).extend(callers)
            else:
                release(callers)  # claimed elsewhere, ended, or not due

    def _take_hints(self) -> None:
        """Take the next batch, without executions that run here already."""
        waiting = self.inbox.waiting
        for id in list(islice(waiting, self.settings.batch)):
            callers = waiting.pop(id)
            if id in self.runner.in_hand:
                release(callers)
            else:
                self.inbox.asked[id] = callers

    def _run(self, claim: Claim) -> None:
        lane, *_ = self.lanes
        self.runner.take([claim], self._lane_of(claim, lane))
        if claim.id not in self.runner.in_hand:  # put off, or ended already
            self._on_end(claim)

    def _on_end(self, claim: Claim) -> None:
        release(self.inbox.running.pop(claim.id, []))


def release(callers: list[Caller]) -> None:
    """Let all of them go on."""
    for caller in callers:
        caller.release()
