"""Concurrency gates: a document with its holders. A place is taken before an execution is queued.

A permit is named by its execution and the revision from which that is queued. It counts when the
execution says so, or still can: a place that was taken by somebody who died since is given back
by `reconcile`, after the execution has been moved on from that revision.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

from pymongo.errors import DuplicateKeyError

from tickwell.stores.mongo.base import MongoBase
from tickwell.stores.mongo.codec import BLOCKED, FIRST_ENDED, QUEUED
from tickwell.stores.mongo.flow import Event
from tickwell.stores.mongo.rows import Document

_BEFORE = {"waits": "key"}
_WANTED = {"rev": 1, "gate": 1, "limit": 1, "state": 1, "waits": 1, "frozen": 1}


class MongoGates(MongoBase):
    """Who passes a concurrency gate."""

    async def pass_gates(self, events: Sequence[Event]) -> set[str]:
        """Do what is to be done, in order; the executions that were let in."""
        entered: set[str] = set()
        later = {event.arriving for event in events if event.arriving is not None}
        for event in events:
            if event.arriving is not None:
                later.discard(event.arriving)
                doc = await self._database.executions.find_one({"_id": event.arriving}, _WANTED)
                if doc is not None and doc.get("waits") == "key" and await self._enter(doc):
                    entered.add(event.arriving)
                continue
            if event.permit is not None:
                await self._give_back(event.gate, event.permit)
            entered.update(await self.let_in(event.gate, later))
        return entered

    async def let_in(self, gate: str, later: Collection[str] = ()) -> list[str]:
        """Let the best of those before a gate through, as many as there is room for.

        `later` are documents that stand there already, by what comes after in the same write.
        """
        entered: list[str] = []
        while True:
            best = await self._database.executions.find_one(
                {"gate": gate, "_id": {"$nin": [*later]}, **_BEFORE},
                _WANTED,
                sort=[("rank", 1), ("_id", 1)],
            )
            if best is None or "frozen" in best:
                return entered
            taken = await self._enter(best)
            if taken is False:
                return entered
            if taken:
                entered.append(best["_id"])

    async def reconcile(self, gate: str) -> None:
        """Give places back whose holders do not have them, and let others in."""
        found = await self._database.gates.find_one({"_id": gate})
        for permit in found["holders"] if found else ():
            if not await self._counts(permit):
                await self._give_back(gate, permit)
        await self.let_in(gate)

    async def _counts(self, permit: str) -> bool:
        """Whether an execution holds this permit; one that still could is moved on."""
        id, _, rev = permit.rpartition("#")
        executions = self._database.executions
        doc = await executions.find_one({"_id": id}, {"permit": 1, "state": 1, "rev": 1})
        if doc is None:
            return False
        if doc.get("permit") == permit:
            return bool(doc["state"] < FIRST_ENDED)
        if doc["rev"] == int(rev):
            moved = await executions.update_one({"_id": id, "rev": int(rev)}, {"$inc": {"rev": 1}})
            return moved.matched_count == 0
        return False

    async def _enter(self, doc: Document) -> bool | None:
        """Take a place and queue the execution; None when it was moved meanwhile."""
        permit = f"{doc['_id']}#{doc['rev']}"
        if not await self._take(doc["gate"], permit, doc["limit"]):
            return False
        moved = await self._database.executions.update_one(
            {"_id": doc["_id"], "rev": doc["rev"], "state": BLOCKED, "frozen": None, **_BEFORE},
            {
                "$set": {"state": QUEUED, "permit": permit},
                "$unset": {"waits": ""},
                "$inc": {"rev": 1},
            },
        )
        if moved.matched_count:
            return True
        # Another process may have queued it with this very permit.
        if not await self._counts(permit):
            await self._give_back(doc["gate"], permit)
        return None

    async def _take(self, gate: str, permit: str, limit: int) -> bool:
        gates = self._database.gates
        room = {"$or": [{"holders": permit}, {f"holders.{limit - 1}": {"$exists": False}}]}
        for _ in range(2):
            taken = await gates.update_one(
                {"_id": gate, **room}, {"$addToSet": {"holders": permit}}
            )
            if taken.matched_count:
                return True
            try:
                await gates.insert_one({"_id": gate, "holders": [permit]})
            except DuplicateKeyError:
                continue
            return True
        return False

    async def _give_back(self, gate: str, permit: str) -> None:
        await self._database.gates.update_one({"_id": gate}, {"$pull": {"holders": permit}})
