"""Drains no-ops beside attempts that run: `python -m bench.ours.live_output WHERE COUNT LINES`.

LINES is how many lines a second each of them logs.
"""

import asyncio
import logging
import random
import sys
import time
from typing import Any

from bench.ours.process import PAYLOAD, add_jobs, make_job, open_store, run, url_of
from bench.ours.watched import Watched
from tickwell.clock import StoreClock, wall_millis
from tickwell.domain.execution import Kind
from tickwell.domain.gate import Overlap
from tickwell.domain.planning import new_execution
from tickwell.domain.trigger import OnDemand
from tickwell.engine.engine import Engine
from tickwell.executors.call import CallExecutor
from tickwell.executors.handlers import Handlers
from tickwell.executors.notes import StoreNotes
from tickwell.ids import new_id
from tickwell.settings import Settings

#: Attempts that run beside the drain.
TALKERS = 100
#: The number of their job: those of the drain have small ones.
NUMBER = 1_000_000
LINE = "processed another batch of rows from the upstream table; no errors so far"


class Counted(Watched):
    """Counts the writes of notes, and the lines in them."""

    puts = 0
    records = 0

    async def put_records(self, records: list[Any], now: int) -> None:
        self.puts += 1
        self.records += len(records)
        await self._store.put_records(records, now)


async def drain(path: str, count: int, lines: float) -> dict[str, float]:
    """Let them start, drain beside them, let them end; say how long the draining took."""
    log, over, ready = logging.getLogger("talker"), asyncio.Event(), asyncio.Event()
    log.setLevel(logging.INFO)
    log.propagate = False
    log.addHandler(logging.NullHandler())
    talking = handled = 0

    async def noop(text: str) -> None:
        nonlocal handled
        handled += len(text) > 0

    async def talk(text: str) -> None:
        nonlocal talking
        talking += len(text) > 0
        if talking == TALKERS:
            ready.set()
        while not over.is_set():
            await asyncio.sleep(0.1)
            for _ in range(round(lines / 10)):
                log.info(LINE)

    store = open_store(path)
    await store.open()
    await _ask(store)
    watched, clock = Counted(store), StoreClock()
    handlers = Handlers()
    handlers.add("noop", noop)
    handlers.add("talk", talk)
    engine = Engine(
        store,
        CallExecutor(handlers, StoreNotes(watched, clock)),  # type: ignore[arg-type]
        clock,
        Settings(store=url_of(path), capacity=2 * TALKERS),
        random=random.Random(),
        notifier=store,
        open_pulse_store=lambda: open_store(path),
    )
    engine.reporter.store = watched  # type: ignore[assignment]
    await engine.start()
    await ready.wait()
    begin, before, cpu = time.time(), watched.written, time.process_time()
    await watched.until(count)
    seconds, drained = watched.last - begin, watched.written - before
    puts, records, cpu = watched.puts, watched.records, time.process_time() - cpu
    over.set()
    await engine.stop()
    await store.close()
    return {
        "handled": handled,
        "rate": drained / seconds,
        "cpu": cpu / drained * 1e6,
        "seconds": seconds,
        "puts": puts / seconds,
        "records": records / seconds,
    }


async def _ask(store: Any) -> None:
    """Runs that come before those of the drain."""
    now = wall_millis()
    job = make_job(NUMBER, "talk", OnDemand(), now)
    await add_jobs(store, [job], now)
    asked_at = now - 10_000_000
    runs = [
        new_execution(
            job,
            asked_at,
            id=new_id(asked_at, random.Random(number)),
            kind=Kind.REQUEST,
            overlap=Overlap.ALLOW,
            payload=PAYLOAD,
        )
        for number in range(TALKERS)
    ]
    await store.add_executions(runs, now, horizon=0)


if __name__ == "__main__":
    run(drain(sys.argv[1], int(sys.argv[2]), float(sys.argv[3])))
