"""Concurrency gates, many places at once: read in one statement, decided here, written in one.

What `Gates` does one by one, in the same order and with the same result.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from heapq import heappop, heappush
from typing import NamedTuple

from tickwell.stores.sql.codec import BLOCKED, KEY_GATE, NO_GATE, QUEUED
from tickwell.stores.sql.server.flow import Flow

#: Executions read before a gate beyond the places that come free in it: where limits differ, a
#: place may let more than one in.
SPARE = 10


class Waiter(NamedTuple):
    """An execution before its concurrency gate; the best one is the smallest."""

    rank: int
    id: str
    gate: str
    limit: int


class KeyGates:
    """Gates that are locked by now, inside a transaction."""

    def __init__(self, flow: Flow) -> None:
        self.flow = flow
        self.session = flow.session
        self.held = flow.locks.held
        self._waiting: dict[str, list[Waiter]] = defaultdict(list)
        #: By gate: none waits that was not read.
        self._read_all: dict[str, bool] = {}
        #: State, waits and whether it has a place, of those that moved.
        self._moved: dict[str, tuple[int, int, bool]] = {}
        self._passed: set[str] = set()

    async def open(self, given_back: Counter[str]) -> None:
        """Read the best of those before the gates in which places come free."""
        asked = {gate: count + SPARE for gate, count in given_back.items()}
        for row in await self.session.many("best_before_gates", list(asked.items())):
            waiter = Waiter(*row)
            self._waiting[waiter.gate].append(waiter)  # in order, which makes it a heap
        for gate, most in asked.items():
            self._read_all[gate] = len(self._waiting[gate]) < most

    def give_back(self, gate: str) -> None:
        """A place comes free; the best of those before the gate get what is free."""
        self.held[gate] -= 1
        waiting = self._waiting[gate]
        while waiting and self.held[gate] < waiting[0].limit:
            self._let_in(heappop(waiting))

    def stand(self, waiter: Waiter) -> None:
        """An execution was given its job's gate and stands before its concurrency gate now."""
        self._passed.add(waiter.id)
        if self.held[waiter.gate] < waiter.limit:
            self._let_in(waiter)
        else:
            heappush(self._waiting[waiter.gate], waiter)
            self._moved[waiter.id] = BLOCKED, KEY_GATE, False

    async def close(self) -> None:
        """Write who moved; where more may wait than were read, look on one by one."""
        await self.session.many(
            "move_keyed", [(*moved, id in self._passed, id) for id, moved in self._moved.items()]
        )
        for gate in sorted(gate for gate, all_read in self._read_all.items() if not all_read):
            if not self._waiting[gate]:
                await self.flow.gates.let_in(gate)

    def _let_in(self, waiter: Waiter) -> None:
        self.held[waiter.gate] += 1
        self._moved[waiter.id] = QUEUED, NO_GATE, True
