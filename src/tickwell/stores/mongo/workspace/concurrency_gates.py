"""Concurrency gates: a document with its holders. A permit is taken before an execution is queued.

A permit is named by its execution and the revision from which the execution is queued. It counts
if the execution names it, or still may: a permit whose taker died is returned by `reconcile`, after
the execution has been moved on from that revision.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence

from pymongo.errors import DuplicateKeyError

from tickwell.domain.execution import State
from tickwell.domain.rate import is_rate, period_of
from tickwell.stores.mongo.codec import BLOCKED, FIRST_ENDED, QUEUED
from tickwell.stores.mongo.database import Database, Document
from tickwell.stores.mongo.workspace.outbox import Event
from tickwell.stores.mongo.workspace.rate_gates import RateGates

#: The states of executions that a gate has moved.
Moved = dict[str, State]

_WAITING = {"waits": "key"}
_FIELDS = dict.fromkeys(
    ("rev", "gate", "limit", "state", "waits", "frozen", "run_at", "look_at"), 1
)

#: Gates that one call handles concurrently.
CONCURRENCY = 8


class ConcurrencyGates:
    """Decides which executions enter."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self.rates = RateGates(database)

    async def handle(self, events: Sequence[Event]) -> Moved:
        """Handle events, in order at each gate; the executions that were moved.

        Gates are independent, and each step is a round trip: several are handled concurrently.
        """
        by_gate: dict[str, list[Event]] = {}
        for event in events:
            by_gate.setdefault(event.gate, []).append(event)
        gates, moved = iter(by_gate.values()), Moved()

        async def handle_some() -> None:
            for each in gates:
                moved.update(await self._handle_gate(each))

        await asyncio.gather(*(handle_some() for _ in range(min(CONCURRENCY, len(by_gate)))))
        return moved

    async def _handle_gate(self, events: list[Event]) -> Moved:
        moved = Moved()
        later = {event.arriving for event in events if event.arriving is not None}
        for event in events:
            later.discard(event.arriving or "")
            if event.arriving is not None and not is_rate(event.gate):
                if await self._arrive(event.arriving, event.gate):
                    moved[event.arriving] = State.QUEUED
                continue
            if event.permit is not None:
                await self._return(event.gate, event.permit, event.back_at, event.until)
            moved.update(await self.let_in(event.gate, event.until, later))
        return moved

    async def _arrive(self, id: str, gate: str) -> bool:
        """Let an execution enter that has just reached the gate, if there is room."""
        doc, holders = await asyncio.gather(
            self.database.executions.find_one({"_id": id}, _FIELDS), self._holders(gate)
        )
        if doc is None or doc.get("waits") != "key" or not _may_enter(holders, doc):
            return False
        return bool(await self._enter(doc))

    async def let_in(self, gate: str, until: int, later: Collection[str] = ()) -> Moved:
        """Let the first of the waiting executions enter, as many as there is room for by then.

        `later` are executions that later events of the same write have put there.
        """
        if is_rate(gate):
            return await self._let_in_by_rate(gate, until, later)
        moved = Moved()
        first = {"gate": gate, "_id": {"$nin": [*later]}, **_WAITING}
        while True:
            best, holders = await asyncio.gather(
                self.database.executions.find_one(first, _FIELDS, sort=[("rank", 1), ("_id", 1)]),
                self._holders(gate),
            )
            if best is None or not _may_enter(holders, best):
                return moved
            taken = await self._enter(best)
            if taken is False:
                return moved
            if taken:
                moved[best["_id"]] = State.QUEUED

    async def _let_in_by_rate(self, gate: str, until: int, later: Collection[str]) -> Moved:
        moved = Moved()
        first = {"gate": gate, "_id": {"$nin": [*later]}, **_WAITING}
        order = [("rank", 1), ("_id", 1)]
        while best := await self.database.executions.find_one(first, _FIELDS, sort=order):
            if "frozen" in best:
                return moved
            state = await self.rates.admit(best, until)
            if state in {State.QUEUED, State.WAITING}:
                moved[best["_id"]] = state
            if state in {State.BLOCKED, State.WAITING}:
                return moved
        return moved

    async def give_back(self, gate: str, permit: str, started_at: int) -> None:
        """Return the permit of a rate with which an attempt has started, and let others enter."""
        await self._return(gate, permit, started_at + period_of(gate), started_at)
        await self.let_in(gate, started_at)

    async def reconcile(self, gate: str, now: int, *, is_old: bool) -> None:
        """Return permits without a live holder, and let others enter.

        An execution that could still be queued with its permit is moved on only if the permit is
        old: another process may be about to queue it.
        """
        for permit in await self._holders(gate):
            if not await self._counts(permit, moving_on=is_old):
                # It may have been used as late as now.
                await self._return(gate, permit, now + period_of(gate), now)
        await self.let_in(gate, now)

    async def _holders(self, gate: str) -> list[str]:
        found = await self.database.gates.find_one({"_id": gate})
        return found["holders"] if found else []

    async def _counts(self, permit: str, *, moving_on: bool = True) -> bool:
        """Whether an execution holds this permit; one that still could is moved on, or counts."""
        name, _, rev = permit.rpartition("#")
        id, executions = name.partition("@")[0], self.database.executions
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
        """Take a permit and queue the execution; None if it changed in between."""
        permit = _permit(doc)
        if not await self._take(doc["gate"], permit, doc["limit"]):
            return False
        moved = await self.database.executions.update_one(
            {"_id": doc["_id"], "rev": doc["rev"], "state": BLOCKED, "frozen": None, **_WAITING},
            {
                "$set": {"state": QUEUED, "permit": permit},
                "$unset": {"waits": ""},
                "$inc": {"rev": 1},
            },
        )
        if moved.matched_count:
            return True
        # Another process may have queued it with the same permit.
        if not await self._counts(permit):
            await self._return(doc["gate"], permit, 0, 0)
        return None

    async def _take(self, gate: str, permit: str, limit: int) -> bool:
        gates = self.database.gates
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

    async def _return(self, gate: str, permit: str, back_at: int, now: int) -> None:
        if is_rate(gate):
            await self.rates.give_back(gate, permit, back_at, now)
            return
        await self.database.gates.update_one({"_id": gate}, {"$pull": {"holders": permit}})


def _permit(doc: Document) -> str:
    return f"{doc['_id']}#{doc['rev']}"


def _may_enter(holders: list[str], doc: Document) -> bool:
    """Whether an execution may try to enter; a process that died may have taken its permit.

    A full gate is not tried: a write that changes nothing waits for the disk as well. A frozen
    execution does not try either: to return its permit, it would be moved on from the revision
    that the operation which froze it is about to change.
    """
    if "frozen" in doc:
        return False
    return len(holders) < doc["limit"] or _permit(doc) in holders
