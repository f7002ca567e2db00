"""Gates, one execution at a time: who gets a permit, and who gets it next.

The job's own gate is the holder in its cursor row; a concurrency gate is a row that counts.
Both change under their locks only, so they are exact.
"""

from __future__ import annotations

from tickwell.stores.sql.codec import ALLOW, BLOCKED, JOB_GATE, KEY_GATE, NO_GATE, QUEUED
from tickwell.stores.sql.server.locks import Locks
from tickwell.stores.sql.server.rows import Row


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

    async def through_key(self, row: Row) -> None:
        """Past its job's gate: queued, or blocked before its concurrency gate."""
        if row.gate is not None and not row.holds_key:
            await self.locks.gates([row.gate])
            if self.locks.held[row.gate] >= row.gate_limit:
                await self.move(row, BLOCKED, KEY_GATE)
                return
            self.locks.held[row.gate] += 1
            row.holds_key = True
        await self.move(row, QUEUED)

    async def leave_key(self, row: Row) -> None:
        """Pass on what one had in its concurrency gate that is gone: its permit, or its turn."""
        if row.gate is not None and row.holds_key:
            await self.release_key(row.gate)
        elif row.gate is not None and row.waits == KEY_GATE:
            await self.let_in(row.gate)

    async def release_key(self, gate: str) -> None:
        """Give a concurrency permit back; the best of those before the gate get what is free."""
        await self.locks.gates([gate])
        self.locks.held[gate] -= 1
        await self.let_in(gate)

    async def let_in(self, gate: str) -> None:
        """Let the best of those before a concurrency gate through, as many as there is room for.

        More than one only where limits differ: each execution brings its own.
        """
        await self.locks.gates([gate])
        while following := await self.load(await self.session.value("best_before_gate", gate)):
            if self.locks.held[gate] >= following.gate_limit:
                return
            await self.through_key(following)

    async def release_job(self, job: str) -> None:
        """Give a job's own permit back; the best of those before the gate gets it."""
        following = await self.load(await self.session.value("best_before_job", job))
        await self._set_holder(job, following.id if following else None)
        if following:
            following.holds_job = True
            await self.through_key(following)

    async def blocked(self, job: str) -> list[Row]:
        """Those that wait past their instant before a job's gate, and that a newer one replaces."""
        ids = [id for (id,) in await self.session.rows("blocked_before_job", job)]
        rows = [await self.load(id) for id in ids]
        return [row for row in rows if row and row.waits == JOB_GATE]

    async def _set_holder(self, job: str, id: str | None) -> None:
        (await self.locks.head(job)).holder = id
        await self.session.run("set_holder", id, job)
