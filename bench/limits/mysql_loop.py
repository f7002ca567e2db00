"""Claim 500, update 500, in tables that Tickwell has filled, with nothing but asyncmy.

The same tables, columns, indexes and durability as Tickwell's, and the same content in the end:
every execution succeeded, its one attempt on record. Nothing is planned, run, watched or fenced.
`python -m bench.limits.mysql_loop URL PREFIX`
"""

import asyncio
import json
import sys
import time
from typing import Any

import asyncmy
import uvloop

from tickwell.stores.mysql.url import parse

PICK = """SELECT id, (SELECT payload FROM {0}execution AS one WHERE one.id = queue.id)
    FROM {0}queue AS queue FORCE INDEX (queue_claim)
    WHERE state = 2 AND queue = 'default' AND ability = 'call:noop' AND run_at <= %s
    ORDER BY `rank`, id LIMIT 500 FOR UPDATE SKIP LOCKED"""
HOLD = """INSERT INTO {0}running (id, job, attempt, charged, lost, returned, run_at, `rank`, worker,
        claim_id, deadline, holds_job)
    SELECT id, job, 1, 1, 0, 0, run_at, `rank`, 'bare', 'claim', %s + 360000, FALSE
    FROM {0}queue WHERE id IN %s; DELETE FROM {0}queue WHERE id IN %s"""
END = """DELETE FROM {0}running WHERE id IN %s;
    UPDATE {0}execution SET state = 5, attempt = 1, charged = 1, outcome = 0, worker = 'bare',
        started_at = %s, ended_at = %s WHERE id IN %s"""


async def step(cursor: Any, prefix: str) -> int:
    now = time.time_ns() // 1_000_000
    await cursor.execute(PICK.format(prefix), (now,))
    rows = await cursor.fetchall()
    if ids := tuple(row[0] for row in rows):
        await cursor.execute(HOLD.format(prefix), (now, ids, ids))
        await cursor.execute("COMMIT")
        [json.loads(row[1]) for row in rows]
        await cursor.execute(END.format(prefix), (ids, now, now, ids))
        await cursor.execute("COMMIT")
    return len(ids)


async def drain(url: str, prefix: str) -> dict[str, float]:
    place = parse(url)
    connection = await asyncmy.connect(**place.driver, database=place.database, charset="utf8mb4")
    done, begin, cpu = 0, time.perf_counter(), time.process_time()
    async with connection.cursor() as cursor:
        await cursor.execute("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
        while some := await step(cursor, prefix):
            done += some
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    return {"done": done, "seconds": seconds, "cpu": cpu}


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(drain(*sys.argv[1:]))))
