"""Repairs after a process that died between two writes.

Something unfinished counts as abandoned when it is seen twice, some seconds apart by our own clock.
Repairing it too early would cost the other process a repetition and nothing else.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence

from tickwell.stores.mongo.client import Part
from tickwell.stores.mongo.codec import FIRST_ENDED
from tickwell.stores.mongo.database import monotonic
from tickwell.stores.mongo.workspace.overlap_gates import OverlapGates
from tickwell.stores.mongo.workspace.workspace import Workspace

#: How many of each kind one sweep examines.
MOST = 500


class Abandoned:
    """What one sweep sees, compared with what the sweep before it saw."""

    def __init__(self, before: dict[str, float], patience: float) -> None:
        self.seen: dict[str, float] = {}
        self._before = before
        self._patience = patience

    def among(self, names: Iterable[str]) -> set[str]:
        """The names that were first seen long enough ago; the others are remembered."""
        at = monotonic()
        self.seen |= {name: self._before.get(name, at) for name in names}
        return {name for name in names if self.seen[name] + self._patience <= at}


#: Repairs one kind of batch.
SweepBatches = Callable[[Abandoned], Awaitable[None]]


class Sweeper(Part):
    """The part of the reaper's work that only this store needs."""

    #: Seconds after which something unfinished counts as abandoned.
    patience = 3.0

    def __init__(self, gates: OverlapGates, batches: Sequence[SweepBatches]) -> None:
        super().__init__(gates.client)
        self.transactions = gates.transactions
        self._gates = gates
        self._batches = batches
        self._seen: dict[str, float] = {}

    async def sweep(self, now: int) -> None:
        """Complete or undo what is abandoned."""
        seen = Abandoned(self._seen, self.patience)
        self._seen = seen.seen
        await self._sweep_outboxes(seen)
        await self._sweep_frozen(seen)
        await self._sweep_over_held(seen, now)
        await self._sweep_lines(now)
        await self._sweep_gates(seen, now)
        for sweep in self._batches:
            await sweep(seen)

    async def _sweep_outboxes(self, seen: Abandoned) -> None:
        where = {"outbox": {"$exists": True}, "outbox.op": {"$gt": ""}}  # as the index has it
        found = self.database.jobs.find(where, limit=MOST)
        docs = [doc async for doc in found]
        old = seen.among([doc["outbox"]["op"] for doc in docs])
        await self.transactions.commits.flush([doc for doc in docs if doc["outbox"]["op"] in old])

    async def _sweep_frozen(self, seen: Abandoned) -> None:
        found = self.database.executions.find(
            {"frozen": {"$exists": True}}, {"job": 1, "frozen": 1}, limit=MOST
        )
        docs = [doc async for doc in found]
        old = seen.among([doc["frozen"] for doc in docs])
        await self.transactions.unfreeze(doc for doc in docs if doc["frozen"] in old)

    async def _sweep_over_held(self, seen: Abandoned, now: int) -> None:
        """Executions that have ended and still hold their jobs' gates."""
        found = self.database.executions.find(
            {"holds_job": True, "state": {"$gte": FIRST_ENDED}}, {"job": 1}, limit=MOST
        )
        docs = [doc async for doc in found]
        old = seen.among([doc["_id"] for doc in docs])
        await self._gates.release([doc for doc in docs if doc["_id"] in old], now)

    async def _sweep_lines(self, now: int) -> None:
        """Gates of jobs with waiting executions and no live holder, without delay."""
        lines = await self.database.executions.distinct("job", {"waits": "job", "job": {"$gt": ""}})
        jobs = self.database.jobs.find({"_id": {"$in": lines}}, {"holder": 1, "waiting": 1})
        heads = [doc async for doc in jobs] if lines else []
        live = await self.transactions.live([doc["holder"] for doc in heads if "holder" in doc])
        stuck = [doc for doc in heads if doc.get("holder") not in live or "waiting" not in doc]
        await self._mend_lines([doc["_id"] for doc in stuck[:MOST]], now)

    async def _mend_lines(self, job_ids: list[str], now: int) -> None:
        executions = self.database.executions

        async def read(space: Workspace) -> None:
            for id in space.tables.jobs:
                before = {"job": id, "waits": "job"}
                space.set_line(id, await executions.count_documents(before))
            await self.transactions.read_gates(space, 2)

        async def change(_: Workspace) -> None:
            """Reading the gates has freed them."""

        if job_ids:
            await self.transactions.run(job_ids, now, read, change)

    async def _sweep_gates(self, seen: Abandoned, now: int) -> None:
        """Concurrency gates with waiting executions, whose permits may have no live holder.

        A permit that may be about to be used is given time.
        """
        gates = await self.database.executions.distinct(
            "gate", {"waits": "key", "gate": {"$gt": ""}}
        )
        old = seen.among([f"gate {gate}" for gate in gates])
        for gate in sorted(gates):
            is_old = f"gate {gate}" in old
            await self.transactions.gates.reconcile(gate, now, is_old=is_old)
            if is_old:
                seen.seen.pop(f"gate {gate}", None)
