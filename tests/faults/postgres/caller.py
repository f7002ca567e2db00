"""A shop's process: an order in its own table, and a run with it, in one transaction.

    python -m tests.faults.postgres.caller STORE ORDER commit|wait

Says how far it came, and then waits for its end.
"""

import asyncio
import json
import sys

import asyncpg

from tickwell import Scheduler

TABLE = "CREATE TABLE IF NOT EXISTS faults.orders (number bigint PRIMARY KEY)"
INSERT = "INSERT INTO faults.orders VALUES ($1) ON CONFLICT DO NOTHING"


async def order(scheduler, dsn, number):
    """The order and its run; the run's id once both are committed."""
    connection = await asyncpg.connect(dsn)
    try:
        async with connection.transaction():
            await connection.execute(INSERT, number)
            key = f"order-{number}"
            return await scheduler.transactions.trigger_async(connection, "email", key=key)
    finally:
        connection.terminate()


async def main(store, number, end):
    scheduler = Scheduler(store)
    connection = await asyncpg.connect(store.partition("?")[0])
    transaction = connection.transaction()
    await transaction.start()
    await connection.execute(INSERT, int(number))
    id = await scheduler.transactions.trigger_async(connection, "email")
    if end == "commit":
        await transaction.commit()
    sys.stdout.write(json.dumps({"event": end, "id": id}) + "\n")
    sys.stdout.flush()
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
