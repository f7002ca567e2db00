"""Concurrency gates: a document with its holders. A place is taken before an execution is queued.

A permit is named by its execution and the revision from which that is queued. It counts when the
execution says so, or still can: a place that was taken by somebody who died since is given back
by `reconcile`, after the execution has been moved on from that revision.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from pymongo.errors import DuplicateKeyError

from tickwell.stores.mongo.base import MongoBase
from tickwell.stores.mongo.codec import BLOCKED, FIRST_ENDED, QUEUED
from tickwell.stores.mongo.flow import Event
from tickwell.stores.mongo.rows import Document

_BEFORE = {"waits": "key"}
_WANTED = {"rev": 1, "gate": 1, "limit": 1, "state": 1, "waits": 1, "frozen": 1}

#: Gates that one call works at, at once.
AT_ONCE = 8


class MongoGates(MongoBase):
    """Who passes a concurrency gate."""

    async def pass_gates(self, events: Sequence[Event]) -> set[str]:
        """Do what is to be done, in order at each gate; the executions that were let in.

        Gates know nothing of each other, and each step is a round trip: several at once.
        """
        by_gate: dict[str, list[Event]] = {}
        for event in events:
            by_gate.setdefault(event.gate, []).append(event)
        gates, entered = iter(by_gate.values()), set[str]()

        async def pass_some() -> None:
            for each in gates:
                entered.update(await self._pass_gate(each))

        await asyncio.gather(*(pass_some() for _ in range(min(AT_ONCE, len(by_gate)))))
        return entered

    async def _pass_gate(self, events: list[Event]) -> set[str]:
        entered: set[str] = set()
        later = {event.arriving for event in events if event.arriving is not None}
        for event in events:
            if event.arriving is not None:
                later.discard(event.arriving)
                if await self._arrive(event.arriving, event.gate):
                    entered.add(event.arriving)
                continue
            if event.permit is not None:
                await self._give_back(event.gate, event.permit)
            entered.update(await self.let_in(event.gate, later))
        return entered

    async def _arrive(self, id: str, gate: str) -> bool:
        """Let an execution through a gate that it has just come to, if there is room."""
        doc, holders = await asyncio.gather(
            self._database.executions.find_one({"_id": id}, _WANTED), self._holders(gate)
        )
        if doc is None or doc.get("waits") != "key" or not _may_enter(holders, doc):
            return False
        return bool(await self._enter(doc))

    async def let_in(self, gate: str, later: Collection[str] = ()) -> list[str]:
        """Let the best of those before a gate through, as many as there is room for.

        `later` are documents that stand there already, by what comes after in the same write.
        """
        entered: list[str] = []
        first = {"gate": gate, "_id": {"$nin": [*later]}, **_BEFORE}
        while True:
            best, holders = await asyncio.gather(
                self._database.executions.find_one(first, _WANTED, sort=[("rank", 1), ("_id", 1)]),
                self._holders(gate),
            )
            if best is None or not _may_enter(holders, best):
                return entered
            taken = await self._enter(best)
            if taken is False:
                return entered
            if taken:
                entered.append(best["_id"])

    async def reconcile(self, gate: str, *, is_old: bool) -> None:
        """Give permits back whose holders are gone, and let others in.

        An execution that could still be queued with its permit is moved on only if that is old:
        another process may be about to do it.
        """
        for permit in await self._holders(gate):
            if not await self._counts(permit, moving_on=is_old):
                await self._give_back(gate, permit)
        await self.let_in(gate)

    async def _holders(self, gate: str) -> list[str]:
        found = await self._database.gates.find_one({"_id": gate})
        return found["holders"] if found else []

    async def _counts(self, permit: str, *, moving_on: bool = True) -> bool:
        """Whether an execution holds this permit; one that still could is moved on, or counts."""
        id, _, rev = permit.rpartition("#")
        executions = self._database.executions
        doc = await executions.find_one({"_id": id}, {"permit": 1, "state": 1, "rev": 1})
        if doc is None:
            return False
        if doc.get("permit") == permit:
            return bool(doc["state"] < FIRST_ENDED)
        if doc["rev"] == int(rev):
            if not moving_on:
                return True
            moved = await executions.update_one({"_id": id, "rev": int(rev)}, {"$inc": {"rev": 1}})
            return moved.matched_count == 0
        return False

    async def _enter(self, doc: Document) -> bool | None:
        """Take a place and queue the execution; None when it was moved meanwhile."""
        permit = _permit(doc)
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


def _permit(doc: Document) -> str:
    return f"{doc['_id']}#{doc['rev']}"


def _may_enter(holders: list[str], doc: Document) -> bool:
    """Whether an execution may try to pass; its permit may have been taken by one who died since.

    A full gate is not tried: a write that changes nothing waits for the disk as well. Nor is one
    for a frozen execution: to give the permit back, it would be moved on from the revision that
    the operation which froze it is about to change.
    """
    if "frozen" in doc:
        return False
    return len(holders) < doc["limit"] or _permit(doc) in holders
