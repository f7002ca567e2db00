"""Claim 500, update 500, on a schema that Tickwell has filled, with nothing but asyncpg.

The same tables, columns, indexes and durability as Tickwell's, and the same content in the end:
every execution succeeded, its one attempt on record. Nothing is planned, run, watched or fenced.
`python -m bench.limits.postgres_loop URL SCHEMA`
"""

import asyncio
import json
import sys
import time

import asyncpg
import uvloop

CLAIM = """
    WITH picked AS MATERIALIZED (
        SELECT id, job, run_at, rank FROM {0}.queue WHERE state = 2 AND queue = 'default'
            AND ability = 'call:noop' AND run_at <= $1 ORDER BY rank, id LIMIT 500
        FOR UPDATE SKIP LOCKED),
    gone AS (DELETE FROM {0}.queue USING picked WHERE queue.id = picked.id),
    held AS (
        INSERT INTO {0}.running (id, job, attempt, charged, lost, returned, run_at, rank, worker,
            claim_id, deadline, holds_job)
        SELECT id, job, 1, 1, 0, 0, run_at, rank, 'bare', $2, $1 + 360000, false FROM picked)
    SELECT picked.id, payload FROM picked JOIN {0}.execution USING (id) ORDER BY rank"""
END = """
    WITH ended AS (SELECT unnest($1::uuid[]) AS id),
    gone AS (DELETE FROM {0}.running USING ended WHERE running.id = ended.id RETURNING running.id)
    UPDATE {0}.execution SET state = 5, attempt = 1, charged = 1, outcome = 0, worker = 'bare',
        started_at = $2, ended_at = $2 FROM gone WHERE execution.id = gone.id"""


async def drain(url: str, schema: str) -> dict[str, float]:
    connection = await asyncpg.connect(url)
    claim, end = CLAIM.format(schema), END.format(schema)
    done, begin = 0, time.perf_counter()
    while True:
        now = time.time_ns() // 1_000_000
        rows = await connection.fetch(claim, now, f"claim-{now}")
        if not rows:
            break
        payloads = [json.loads(row[1]) for row in rows]
        await connection.execute(end, [row[0] for row in rows], time.time_ns() // 1_000_000)
        done += len(payloads)
    seconds = time.perf_counter() - begin
    await connection.close()
    return {"done": done, "seconds": seconds}


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(drain(*sys.argv[1:3]))))
