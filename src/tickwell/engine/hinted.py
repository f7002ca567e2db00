"""A worker that claims what it is told of, one hint for each execution, and nothing else."""

from __future__ import annotations

from collections.abc import Callable
from itertools import islice
from typing import Any

from tickwell.domain.execution import Claim
from tickwell.engine.worker import Worker

#: Called when a hint needs no more attention: its attempt has ended, or there was none.
Done = Callable[[], object]


class Hints:
    """Where hints come in: the worker of another task queue hands them to the engine."""

    def __init__(self, name: str, capacity: int) -> None:
        #: What the workers list shows, followed by what tells incarnations apart.
        self.name = name
        #: How many hints are handed over at once.
        self.capacity = capacity
        self.waiting: dict[str, list[Done]] = {}
        self.wake: Callable[[], None] = lambda: None

    def add(self, id: str, done: Done) -> None:
        """Run this execution if it can be claimed."""
        self.waiting.setdefault(id, []).append(done)
        self.wake()

    def drop(self) -> None:
        """Nothing more is claimed here: let all callers go."""
        waiting, self.waiting = self.waiting, {}
        for each in waiting.values():
            _tell(each)


class HintedWorker(Worker):
    """Hints that arrive while one claim is under way go into the next."""

    def __init__(self, *arguments: Any, hints: Hints, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.hints = hints
        self.runner.on_end = self._on_end
        # One hint follows the other, and few are in hand: each would be a write of its own.
        self.runner.reporter.gathers = True
        #: Callers by execution: of the claim under way, and of attempts in hand.
        self._asked: dict[str, list[Done]] = {}
        self._running: dict[str, list[Done]] = {}

    @property
    def capacity(self) -> int:
        return self.hints.capacity

    def new_worker_id(self) -> str:
        return f"{self.hints.name}/{self.new_id()}"

    async def _step(self) -> float:
        await self.shares.look(self.lanes)
        await self._find_lost_claims()
        self.runner.give_back_stuck(self.lanes)
        await self.queues.look()
        if not self.runner.is_backed_up():
            await self._claim_hinted()
        self._notice_idle()
        if self.hints.waiting:
            return 0.0
        is_waiting = any(lane.ready or lane.held() for lane in self.lanes)
        return self.settings.lead if is_waiting else self.settings.poll

    async def _claim_hinted(self) -> None:
        if not self._asked:
            self._take_hints()
        if not self._asked:
            return
        lane, *_ = self.lanes
        abilities = frozenset[str]().union(*self.lanes.values())
        claims = await self._claim(lane, abilities, len(self._asked), tuple(self._asked))
        asked, self._asked = self._asked, {}
        if self.is_draining():
            self.runner.refuse(claims)
            claims = []
        for claim in claims:
            self._running[claim.id] = asked.pop(claim.id, [])
            self._run(claim)
        for callers in asked.values():
            _tell(callers)  # claimed elsewhere, over, or not due: nothing is to be done here

    def _take_hints(self) -> None:
        """The next batch; what runs here already needs no second claim."""
        waiting = self.hints.waiting
        for id in list(islice(waiting, self.settings.batch)):
            callers = waiting.pop(id)
            if id in self.runner.in_hand:
                _tell(callers)
            else:
                self._asked[id] = callers

    def _run(self, claim: Claim) -> None:
        lane, *_ = self.lanes
        self.runner.take([claim], self._lane_of(claim, lane))
        if claim.id not in self.runner.in_hand:  # put off, or ended already
            self._on_end(claim)

    def _on_end(self, claim: Claim) -> None:
        _tell(self._running.pop(claim.id, []))


def _tell(callers: list[Done]) -> None:
    for done in callers:
        done()
