"""Claim 500, update 500, on a schema that Tickwell has filled, with nothing but asyncpg.

The same tables, columns, indexes and durability as Tickwell's, and the same content in the end:
every execution succeeded, its one attempt on record. Nothing is planned, run, watched or fenced.
`python -m bench.limits.postgres_loop URL SCHEMA [pipelined]`: pipelined, the next 500 are claimed
on another connection while the last 500 are ended.
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


class Bare:
    """The two statements."""

    def __init__(self, schema: str) -> None:
        self.claiming, self.ending = CLAIM.format(schema), END.format(schema)

    async def claim(self, connection: asyncpg.Connection) -> list[asyncpg.Record]:
        now = millis()
        rows: list[asyncpg.Record] = await connection.fetch(self.claiming, now, f"claim-{now}")
        return rows

    async def end(self, connection: asyncpg.Connection, rows: list[asyncpg.Record]) -> int:
        payloads = [json.loads(row[1]) for row in rows]
        await connection.execute(self.ending, [row[0] for row in rows], millis())
        return len(payloads)

    async def in_turn(self, connection: asyncpg.Connection, _: asyncpg.Connection) -> int:
        done = 0
        while rows := await self.claim(connection):
            done += await self.end(connection, rows)
        return done

    async def pipelined(self, claimer: asyncpg.Connection, ender: asyncpg.Connection) -> int:
        done, rows = 0, await self.claim(claimer)
        while rows:
            rows, ended = await asyncio.gather(self.claim(claimer), self.end(ender, rows))
            done += ended
        return done


def millis() -> int:
    return time.time_ns() // 1_000_000


async def drain(url: str, schema: str, way: str = "in_turn") -> dict[str, float]:
    connections = [await asyncpg.connect(url) for _ in range(2)]
    begin, cpu = time.perf_counter(), time.process_time()
    done = await getattr(Bare(schema), way)(*connections)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    for connection in connections:
        await connection.close()
    return {"done": done, "seconds": seconds, "cpu": cpu}


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(drain(*sys.argv[1:]))))
