"""No-ops through Celery's workers: `python -m bench.ours.celery_drain STORE BROKER COUNT`.

They are queued already: measured is the time from the start of the dispatcher to the last end on
record, with a worker that is up and idle.
"""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from typing import Any

from bench.ours.celery_worker import PROCESSES, cpu, named, started
from bench.ours.process import enqueue, open_store, run
from tickwell.clock import StoreClock
from tickwell.domain.event import Events
from tickwell.domain.execution import State
from tickwell.engine.engine import Engine
from tickwell.executors.call import CallExecutor
from tickwell.executors.handlers import Handlers
from tickwell.ids import ENTROPY
from tickwell.settings import Settings
from tickwell.wiring import make_dispatcher

PATIENCE = 600.0


async def drain(where: str, broker: str, count: int) -> dict[str, float]:
    store = open_store(where)
    await store.open()
    await enqueue(store, count)
    named(where, broker)
    used = cpu()
    with started("bench.ours.celery_app"):
        await until(lambda: workers(store), PROCESSES)
        begin = time.time()
        engine = planner(store, where, broker)
        await engine.start()
        await until(lambda: _ended(store), count)
        seconds = time.time() - begin
        await engine.stop()
    written = (await store.stats()).get(State.SUCCEEDED, 0)
    await store.close()
    return {"seconds": seconds, "written": written, "cpu": cpu() - used}


def planner(store: Any, where: str, broker: str) -> Engine:
    settings = Settings(store=where, engine="celery", broker=broker)
    clock, events = StoreClock(), Events()
    return Engine(
        store,
        CallExecutor(Handlers()),
        clock,
        settings,
        random=ENTROPY,
        events=events,
        roles={"planner"},
        notifier=store,
        open_pulse_store=lambda: open_store(where),
        extra=[make_dispatcher(store, clock, settings)],
    )


async def _ended(store: Any) -> int:
    stats = await store.stats()
    return sum(stats.get(state, 0) for state in (State.SUCCEEDED, State.DEAD))


async def workers(store: Any) -> int:
    return sum(each.worker.is_worker for each in await store.list_workers())


async def until(count: Callable[[], Awaitable[int]], wanted: int) -> None:
    end = time.time() + PATIENCE
    while await count() < wanted:
        assert time.time() < end
        await asyncio.sleep(0.1)


if __name__ == "__main__":
    run(drain(sys.argv[1], sys.argv[2], int(sys.argv[3])))
