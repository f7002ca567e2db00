"""procrastinate with aiohttp, 200 at once: sends webhooks that are in its queue already.

`python procrastinate_webhooks.py URL COUNT RECEIVER`, in a database of its own on that server.
"""

import asyncio
import json
import sys
import time

import aiohttp  # type: ignore[import-not-found, unused-ignore]
import psycopg  # type: ignore[import-not-found, unused-ignore]
import uvloop  # type: ignore[import-not-found, unused-ignore]
from procrastinate import App, PsycopgConnector  # type: ignore[import-not-found]

DATABASE = "procrastinate_webhooks"
AT_ONCE = 200
DEADLINE = aiohttp.ClientTimeout(total=30)
PAYLOAD = {"text": "x" * 189}  # 200 bytes as JSON, as ours


async def fresh(url: str) -> str:
    """A database with nothing in it; where it is."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute(f"DROP DATABASE IF EXISTS {DATABASE}")
        await connection.execute(f"CREATE DATABASE {DATABASE}")
    return psycopg.conninfo.make_conninfo(url, dbname=DATABASE)


async def send(url: str, count: int, receiver: str) -> dict[str, float]:
    """Until the worker finds no more."""
    app, sent = App(connector=PsycopgConnector(conninfo=await fresh(url))), 0
    async with app.open_async(), aiohttp.ClientSession(timeout=DEADLINE) as session:

        @app.task(name="webhook")  # type: ignore[untyped-decorator]
        async def webhook(**payload: str) -> None:
            nonlocal sent
            async with session.post(receiver, json=payload) as answer:
                await answer.read()
                answer.raise_for_status()
                sent += 1

        await app.schema_manager.apply_schema_async()
        await webhook.batch_defer_async(*[PAYLOAD] * count)
        cpu = time.process_time()
        await app.run_worker_async(
            wait=False, concurrency=AT_ONCE, install_signal_handlers=False, listen_notify=False
        )
        ended, cpu = time.time(), time.process_time() - cpu
    return {"sent": sent, "ended": ended, "cpu": cpu}


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(send(sys.argv[1], int(sys.argv[2]), sys.argv[3]))))
