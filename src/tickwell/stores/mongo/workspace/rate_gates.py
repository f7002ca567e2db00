"""Gates of rates: a document with the holders of permits, and when used permits can be had again.

As in a concurrency gate, a permit is taken before an execution is queued, and names the execution
and the revision from which it is queued; here also the instant from which on it may be used. The
document changes by compare-and-set: both lists are as they were read.
"""

from __future__ import annotations

from pymongo.errors import DuplicateKeyError

from tickwell.domain.execution import State
from tickwell.domain.rate import left_after, long_past, permit_from, with_returned
from tickwell.stores.mongo.codec import BLOCKED, QUEUED, WAITING
from tickwell.stores.mongo.database import Database, Document

_BEFORE = {"state": {"$in": [WAITING, BLOCKED]}, "waits": "key", "frozen": None}


class RateGates:
    """Decides which executions enter, and when."""

    def __init__(self, database: Database) -> None:
        self.database = database

    async def admit(self, doc: Document, until: int) -> State | None:
        """Queue the best of those before the gate if it may start by then; its state.

        Waiting: it is the one to be looked at later. None: nothing can be said of it yet.
        """
        found = await self.database.gates.find_one({"_id": doc["gate"]})
        holders = [] if found is None else found["holders"]
        permit = next((one for one in holders if _is_of(one, doc)), None)
        if permit is not None:  # a process that died, or one that is at it, has taken it
            return await self._queue(doc, permit)
        free = [] if found is None else found["free"]
        at = permit_from(len(holders), free, doc["limit"])
        if at is None:
            return State.BLOCKED
        if at > until:
            return await self._look_later(doc, at)
        permit = f"{doc['_id']}@{at}#{doc['rev']}"
        after = {"holders": [*holders, permit], "free": left_after(free, at)}
        if not await self._write(doc["gate"], found, after):
            return None
        return await self._queue(doc, permit)

    async def give_back(self, gate: str, permit: str, at: int, now: int) -> None:
        """Return a permit that can be had again at an instant; once, however often it is called."""
        while True:
            found = await self.database.gates.find_one({"_id": gate, "holders": permit})
            if found is None:
                return
            holders = [one for one in found["holders"] if one != permit]
            after = {"holders": holders, "free": with_returned(found["free"], at, now)}
            if await self._write(gate, found, after):
                return

    async def prune(self, now: int) -> None:
        """Forget gates of which every permit can be had again."""
        await self.database.gates.delete_many({"holders": [], "until": {"$lte": long_past(now)}})

    async def _write(self, gate: str, found: Document | None, after: Document) -> bool:
        after["until"] = after["free"][-1] if after["free"] else 0
        gates = self.database.gates
        if found is None:
            try:
                await gates.insert_one({"_id": gate, **after})
            except DuplicateKeyError:
                return False
            return True
        before = {name: found[name] for name in ("_id", "holders", "free")}
        done = await gates.update_one(before, {"$set": after})
        return done.matched_count == 1

    async def _queue(self, doc: Document, permit: str) -> State | None:
        at = permit_instant(permit)
        moved = await self.database.executions.update_one(
            {"_id": doc["_id"], "rev": doc["rev"], **_BEFORE},
            {
                "$set": {"state": QUEUED, "permit": permit, "run_at": max(doc["run_at"], at)},
                "$unset": {"waits": "", "reason": ""},
                "$inc": {"rev": 1},
            },
        )
        if moved.matched_count:
            return State.QUEUED
        where = {"_id": doc["_id"], "permit": permit}
        if await self.database.executions.find_one(where, {"_id": 1}) is None:
            await self.give_back(doc["gate"], permit, at, 0)
        return None

    async def _look_later(self, doc: Document, at: int) -> State | None:
        """The best execution at that instant gets it, so only one of them is looked at."""
        if doc["state"] == WAITING and doc["look_at"] == at:
            return State.WAITING
        moved = await self.database.executions.update_one(
            {"_id": doc["_id"], "rev": doc["rev"], **_BEFORE},
            {"$set": {"state": WAITING, "look_at": at}, "$inc": {"rev": 1}},
        )
        return State.WAITING if moved.matched_count else None


def permit_instant(permit: str) -> int:
    """From when on a permit may be used."""
    return int(permit.partition("@")[2].partition("#")[0])


def _is_of(permit: str, doc: Document) -> bool:
    """Whether it is the permit with which this revision of an execution is queued."""
    return permit.startswith(f"{doc['_id']}@") and permit.endswith(f"#{doc['rev']}")
