"""Gates: which execution gets a permit, and which one gets it next.

The job's own gate is the holder in its cursor row; that of a key or a rate is a row that counts.
Both change under their locks only, so they are exact.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from heapq import heappop, heappush
from typing import NamedTuple

from tickwell.domain.execution import Reason
from tickwell.domain.rate import is_rate, left_after, permit_from, with_returned
from tickwell.stores.sql.flow.locks import Locks
from tickwell.stores.sql.rows.codec import (
    ALLOW,
    BLOCKED,
    JOB_GATE,
    KEY_GATE,
    NO_GATE,
    QUEUED,
    WAITING,
)
from tickwell.stores.sql.rows.pending import Row


class Gates:
    """The permits of a store, inside a transaction."""

    def __init__(self, locks: Locks) -> None:
        self.session = locks.session
        self.locks = locks

    async def load(self, id: str | None) -> Row | None:
        """A pending execution as it stands now; a claim under way ends first."""
        values = None if id is None else await self.session.row("load_pending", id)
        return None if values is None else Row(*values)

    async def move(self, row: Row, state: int, waits: int = NO_GATE) -> None:
        """Change the state of a pending execution."""
        row.state, row.waits = state, waits
        await self.session.run(
            "save_pending",
            state,
            waits,
            row.queue,
            row.ability,
            row.run_at,
            row.rank,
            row.look_at,
            row.gate_limit,
            row.holds_job,
            row.holds_key,
            row.id,
        )

    async def take_job(self, row: Row) -> bool:
        """Whether it has the permit of its job now; the row is saved by the move that follows."""
        if row.overlap == ALLOW or row.holds_job:
            return True
        head = await self.locks.head(row.job)
        if head.holder is not None:
            return False
        await self._set_holder(row.job, row.id)
        row.holds_job = True
        return True

    async def through_key(self, row: Row, until: int) -> None:
        """Past its job's gate: queued, or before the gate of its key or rate."""
        if row.gate is None or row.holds_key:
            await self.move(row, QUEUED)
            return
        await self.locks.gates([row.gate])
        if is_rate(row.gate):
            # Permits come free with time, so that better ones may stand before it.
            await self.session.run("set_reason", Reason.RATE.value, row.id)
            await self.move(row, BLOCKED, KEY_GATE)
            await self.let_in(row.gate, until)
        elif self.locks.held[row.gate] >= row.gate_limit:
            await self.move(row, BLOCKED, KEY_GATE)
        else:
            await self._enter(row, 0)

    async def leave_key(self, row: Row, now: int) -> None:
        """Pass on what one had in its key's gate that is gone: its permit, or its turn."""
        if row.gate is not None and row.holds_key:
            await self.release_key(row.gate, row.run_at, now)
        elif row.gate is not None and row.waits == KEY_GATE:
            await self.let_in(row.gate, now)

    async def release_key(self, gate: str, at: int, now: int) -> None:
        """Give a permit back, that of a rate from an instant on; the best get what is free."""
        await self.locks.gates([gate])
        self.locks.held[gate] -= 1
        if is_rate(gate):
            self.locks.free[gate] = with_returned(self.locks.free[gate], at, now)
        await self.let_in(gate, now)

    async def let_in(self, gate: str, until: int) -> None:
        """Let the best of those before a gate through, as many as there is room for by then.

        More than one only where limits differ, or with time: each execution brings its own limit.
        """
        await self.locks.gates([gate])
        while following := await self.load(await self.session.value("best_before_gate", gate)):
            held, free = self.locks.held[gate], self.locks.free.get(gate, [])
            at = permit_from(held, free, following.gate_limit)
            if at is None:
                return
            if at > until:
                # The best execution at that instant gets it, so only one of them is looked at.
                following.look_at = at
                await self.move(following, WAITING, KEY_GATE)
                return
            await self._enter(following, at)

    async def _enter(self, row: Row, at: int) -> None:
        """Give it a permit of its key's gate that can be had from an instant on."""
        gate = row.gate or ""
        self.locks.held[gate] += 1
        row.holds_key = True
        if is_rate(gate):
            self.locks.free[gate] = left_after(self.locks.free[gate], at)
            await self.session.run("set_reason", None, row.id)
            if at > row.run_at:
                row.run_at = at
                await self.session.run("set_run_at", at, row.id)
        await self.move(row, QUEUED)

    async def release_job(self, job: str, now: int) -> None:
        """Give a job's own permit back; the best of those before the gate gets it."""
        following = await self.load(await self.session.value("best_before_job", job))
        await self._set_holder(job, following.id if following else None)
        if following:
            following.holds_job = True
            await self.through_key(following, now)

    async def blocked(self, job: str) -> list[Row]:
        """Those that wait past their instant before a job's gate, and that a newer one replaces."""
        ids = [id for (id,) in await self.session.rows("blocked_before_job", job)]
        rows = [await self.load(id) for id in ids]
        return [row for row in rows if row and row.waits == JOB_GATE]

    async def _set_holder(self, job: str, id: str | None) -> None:
        (await self.locks.head(job)).holder = id
        await self.session.run("set_holder", id, job)


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
    """Concurrency gates of many executions at once, all of them locked by now.

    They are read in one statement, decided here and written in one: what `Gates` does one by one,
    in the same order and with the same result.
    """

    def __init__(self, gates: Gates) -> None:
        self.gates = gates
        self.session = gates.session
        self.held = gates.locks.held
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
                await self.gates.let_in(gate, 0)

    def _let_in(self, waiter: Waiter) -> None:
        self.held[waiter.gate] += 1
        self._moved[waiter.id] = QUEUED, NO_GATE, True
