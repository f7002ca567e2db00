"""Pages for people: of what an index leads to, so many are looked at and no more."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tickwell.stores.mongo.codec import QUEUED, RUNNING
from tickwell.stores.mongo.database import Collection
from tickwell.stores.mongo.rows import Document

Order = list[tuple[str, int]]

NEWEST: Order = [("_id", -1)]
#: The index that has all executions of a live state; one more has the others.
_LIVE = {QUEUED: "claim", RUNNING: "worker"}


async def within_reach(
    walk: tuple[Collection, Document, Order], matching: Document, reach: int, limit: int
) -> tuple[list[Document], Document | None]:
    """What matches among the first of a walk; if it stopped before its end, the last one there."""
    collection, along, order = walk
    found = await collection.aggregate(
        [
            {"$match": along},
            {"$sort": dict(order)},
            {"$limit": reach},
            {"$match": matching},
            {"$limit": limit},
        ]
    )
    docs = [doc async for doc in found]
    if len(docs) == limit:
        return docs, None
    names = dict.fromkeys((name for name, _ in order), 1)
    return docs, await collection.find_one(along, names, sort=order, skip=reach - 1)


async def live(
    executions: Collection, matching: Document, codes: Sequence[int], limit: int
) -> list[Document]:
    """The newest in these states, gathered from their indexes: never on the way through history."""

    async def of(code: int) -> list[Document]:
        found = executions.find(
            matching | {"state": code},
            {"attempts": 0},
            sort=NEWEST,
            limit=limit,
            hint=_LIVE.get(code, "still"),
        )
        return [doc async for doc in found]

    parts = await asyncio.gather(*map(of, codes))
    docs = {doc["_id"]: doc for part in parts for doc in part}
    return [docs[id] for id in sorted(docs, reverse=True)[:limit]]
