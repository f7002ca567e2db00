"""PGQueuer, batches of 500: drains no-ops that are in the queue already.

`python pgqueuer_drain.py URL COUNT`, in a database of which nothing else is wanted.
"""

import asyncio
import json
import sys
import time

import asyncpg  # type: ignore[import-not-found, unused-ignore]
import uvloop  # type: ignore[import-not-found, unused-ignore]
from pgqueuer import AsyncpgDriver, Job, PgQueuer, Queries  # type: ignore[import-not-found]
from pgqueuer.types import QueueExecutionMode  # type: ignore[import-not-found]

BATCH = 500
PAYLOAD = json.dumps({"text": "x" * 189}).encode()


async def fill(connection: asyncpg.Connection, count: int) -> None:
    """A fresh queue with so many jobs."""
    queries = Queries(AsyncpgDriver(connection))
    await queries.uninstall()
    await queries.install()
    for _ in range(0, count, 1000):
        await queries.enqueue(["noop"] * 1000, [PAYLOAD] * 1000, [0] * 1000)
    await connection.execute("VACUUM ANALYZE")
    await connection.execute("CHECKPOINT")


async def drain(url: str, count: int) -> dict[str, float]:
    """Until the last handler was called; what is needed to start counts, as it does for ours."""
    connection = await asyncpg.connect(url)
    await fill(connection, count)
    queue, handled, last = PgQueuer(AsyncpgDriver(connection)), 0, 0.0

    @queue.entrypoint("noop")
    async def noop(job: Job) -> None:
        nonlocal handled, last
        handled += len(json.loads(job.payload)["text"]) > 0
        last = time.perf_counter()

    begin, cpu = time.perf_counter(), time.process_time()
    await queue.run(batch_size=BATCH, mode=QueueExecutionMode.drain)
    cpu = time.process_time() - cpu
    await connection.close()
    return {"handled": handled, "seconds": last - begin, "cpu": cpu}


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(drain(sys.argv[1], int(sys.argv[2])))))
