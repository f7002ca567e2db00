"""Repairs: what a process left behind that died between two writes.

Everything is seen twice, some seconds apart by our own clock, before it is taken to be left behind;
taking it up early would cost the other process a repetition and nothing else.
"""

from __future__ import annotations

from collections.abc import Iterable

from tickwell.stores.mongo.base import monotonic
from tickwell.stores.mongo.codec import FIRST_ENDED
from tickwell.stores.mongo.rows import Document
from tickwell.stores.mongo.working import MongoWorking
from tickwell.stores.mongo.workspace import Workspace

#: How much of each kind one sweep looks at.
MOST = 500


class MongoSweeping(MongoWorking):
    """The part of the reaper's work that only this store has."""

    #: Seconds after which what is unfinished is taken to be left behind.
    patience = 3.0

    def __init__(self) -> None:
        self._seen: dict[str, float] = {}

    async def sweep(self, now: int) -> None:
        """Finish or undo what is left behind."""
        seen = self._seen
        self._seen = {}
        await self._sweep_outboxes(seen)
        await self._sweep_frozen(seen)
        await self._sweep_over_held(seen, now)
        await self._sweep_lines(now)
        await self._sweep_gates(seen)
        await self.sweep_batches(seen)

    async def sweep_batches(self, seen: dict[str, float]) -> None:
        """Jobs or runs that were being added together."""

    def left_behind(self, seen: dict[str, float], names: Iterable[str]) -> set[str]:
        """Those that were seen long enough ago; the others are remembered."""
        at = monotonic()
        self._seen |= {name: seen.get(name, at) for name in names}
        return {name for name in names if self._seen[name] + self.patience <= at}

    async def _sweep_outboxes(self, seen: dict[str, float]) -> None:
        where = {"outbox": {"$exists": True}, "outbox.op": {"$gt": ""}}  # as the index has it
        found = self._database.jobs.find(where, limit=MOST)
        docs = [doc async for doc in found]
        old = self.left_behind(seen, [doc["outbox"]["op"] for doc in docs])
        await self.flush([doc for doc in docs if doc["outbox"]["op"] in old])

    async def _sweep_frozen(self, seen: dict[str, float]) -> None:
        found = self._database.executions.find(
            {"frozen": {"$exists": True}}, {"job": 1, "frozen": 1}, limit=MOST
        )
        docs = [doc async for doc in found]
        old = self.left_behind(seen, [doc["frozen"] for doc in docs])
        await self.unfreeze(doc for doc in docs if doc["frozen"] in old)

    async def _sweep_over_held(self, seen: dict[str, float], now: int) -> None:
        """Executions that have ended and still hold their jobs' gates."""
        found = self._database.executions.find(
            {"holds_job": True, "state": {"$gte": FIRST_ENDED}}, {"job": 1}, limit=MOST
        )
        docs = [doc async for doc in found]
        old = self.left_behind(seen, [doc["_id"] for doc in docs])
        await self.release([doc for doc in docs if doc["_id"] in old], now)

    async def release(self, docs: list[Document], now: int) -> None:
        """Give jobs' permits back that ended executions have kept."""
        ids = [doc["_id"] for doc in docs]

        async def fill(space: Workspace) -> None:
            await self.read_rows(space, ids)
            await self.read_gates(space, 2)

        async def do(space: Workspace) -> None:
            for id in ids:
                row = space.tables.rows.get(id)
                if row is not None and row.execution.ended_at is not None:
                    space.flow.release_job(row)

        if ids:
            await self.work({doc["job"] for doc in docs}, now, fill, do)

    async def _sweep_lines(self, now: int) -> None:
        """Gates of jobs with waiting executions and no live holder, at the first look."""
        lines = await self._database.executions.distinct(
            "job", {"waits": "job", "job": {"$gt": ""}}
        )
        jobs = self._database.jobs.find({"_id": {"$in": lines}}, {"holder": 1, "waiting": 1})
        heads = [doc async for doc in jobs] if lines else []
        live = await self.live([doc["holder"] for doc in heads if "holder" in doc])
        stuck = [doc for doc in heads if doc.get("holder") not in live or "waiting" not in doc]
        await self._mend_lines([doc["_id"] for doc in stuck[:MOST]], now)

    async def _mend_lines(self, job_ids: list[str], now: int) -> None:
        executions = self._database.executions

        async def fill(space: Workspace) -> None:
            for id in space.tables.jobs:
                before = {"job": id, "waits": "job"}
                space.set_line(id, await executions.count_documents(before))
            await self.read_gates(space, 2)

        async def do(_: Workspace) -> None:
            """Reading the gates has freed them."""

        if job_ids:
            await self.work(job_ids, now, fill, do)

    async def _sweep_gates(self, seen: dict[str, float]) -> None:
        """Gates with waiting executions, should a permit be held by an execution that is gone.

        One that may be about to be used is given time.
        """
        gates = await self._database.executions.distinct(
            "gate", {"waits": "key", "gate": {"$gt": ""}}
        )
        old = self.left_behind(seen, [f"gate {gate}" for gate in gates])
        for gate in sorted(gates):
            is_old = f"gate {gate}" in old
            await self.reconcile(gate, is_old=is_old)
            if is_old:
                self._seen.pop(f"gate {gate}", None)
