"""Claim 500, update 500, in a database that Tickwell has filled, with nothing but pymongo.

The same collection, fields, indexes and durability as Tickwell's, and the same content in the end:
every execution succeeded, its one attempt on record. Nothing is planned, run, watched or fenced.
`python -m bench.limits.mongo_loop URL`
"""

import asyncio
import json
import sys
import time
from typing import Any

import uvloop
from pymongo import AsyncMongoClient, UpdateOne

QUEUED, RUNNING, SUCCEEDED = 3, 4, 5
GONE = {"deadline": "", "claim": ""}


async def drain(url: str) -> dict[str, float]:
    client: AsyncMongoClient[dict[str, Any]] = AsyncMongoClient(url, w="majority", journal=True)
    executions = client.get_default_database()["executions"]
    done, begin = 0, time.perf_counter()
    while True:
        now = time.time_ns() // 1_000_000
        where = {"state": QUEUED, "queue": "default", "run_at": {"$lte": now}}
        found = executions.find(where, {"_id": 1}, sort=[("rank", 1), ("_id", 1)], limit=500)
        ids = [doc["_id"] async for doc in found]
        if not ids:
            break
        held = {"state": RUNNING, "worker": "bare", "claim": f"c{now}", "deadline": now + 360_000}
        await executions.update_many(
            {"_id": {"$in": ids}, "state": QUEUED},
            {"$set": held, "$inc": {"attempt": 1, "charged": 1, "rev": 1}},
        )
        claimed = executions.find(
            {"_id": {"$in": ids}, "claim": held["claim"]}, {"payload": 1, "attempt": 1}
        )
        docs = [doc async for doc in claimed]
        [json.loads(doc["payload"]) for doc in docs]
        told = {"state": SUCCEEDED, "ended_at": now, "started_at": now, "charged": 1}
        attempt = {"number": 1, "outcome": 0, "worker": "bare", "started_at": now, "ended_at": now}
        end = {"$set": told, "$unset": GONE, "$push": {"attempts": attempt}, "$inc": {"rev": 1}}
        await executions.bulk_write(
            [UpdateOne({"_id": doc["_id"], "state": RUNNING, "attempt": 1}, end) for doc in docs],
            ordered=False,
        )
        done += len(docs)
    seconds = time.perf_counter() - begin
    await client.close()
    return {"done": done, "seconds": seconds}


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(drain(sys.argv[1]))))
