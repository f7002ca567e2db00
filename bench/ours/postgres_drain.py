"""Fills or drains a schema: `python -m bench.ours.postgres_drain fill|drain URL COUNT [profile]`.

COUNT 0: until no more come, since others take their share.
"""

import random
import sys
import time
from collections.abc import Callable
from typing import Any

from bench.ours.process import enqueue, run
from bench.ours.watched import Watched
from bench.profile import Sampler, show
from tickwell.clock import StoreClock
from tickwell.engine.engine import Engine
from tickwell.executors.call import CallExecutor
from tickwell.executors.handlers import Handlers
from tickwell.settings import Settings
from tickwell.stores.postgres import PostgresStore


def make_engine(store: PostgresStore, handlers: dict[str, Callable[..., Any]], url: str) -> Engine:
    """Planner, worker and reaper, with a pulse in its own thread, as in production."""
    registered = Handlers()
    for name, function in handlers.items():
        registered.add(name, function)
    return Engine(
        store,
        CallExecutor(registered),
        StoreClock(),
        Settings(store=url),
        random=random.Random(),
        notifier=store,
        open_pulse_store=lambda: PostgresStore.from_url(url),
    )


async def fill(url: str, count: int) -> dict[str, int]:
    """Add the runs, and let the server find out how many there are."""
    store = PostgresStore.from_url(url)
    await store.open()
    await enqueue(store, count)
    for table in ("queue", "execution", "running", "cursor"):
        await store.database.single(
            lambda session: session.connection.execute(
                f'VACUUM ANALYZE "{store.location.schema}".{table}'  # noqa: B023
            )
        )
    await store.close()
    return {"enqueued": count}


async def drain(url: str, count: int, sampler: Sampler | None = None) -> dict[str, float]:
    """Start, drain, stop; say how long the draining took."""
    handled = 0

    async def noop(text: str) -> None:
        nonlocal handled
        handled += len(text) > 0

    store = PostgresStore.from_url(url)
    await store.open()
    engine = make_engine(store, {"noop": noop}, url)
    watched = Watched(store)
    engine.reporter.store = watched  # type: ignore[assignment]
    if sampler:
        sampler.start()
    begin, cpu = time.time(), time.process_time()
    await engine.start()
    await watched.until(count)
    cpu = time.process_time() - cpu
    if sampler:
        sampler.stop()
        print(show(sampler, watched.written), file=sys.stderr)
    await engine.stop()
    await store.close()
    seconds = watched.last - begin
    return {"handled": handled, "written": watched.written, "seconds": seconds, "cpu": cpu}


if __name__ == "__main__":
    what, where, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
    if what == "fill":
        run(fill(where, size))
    else:
        run(drain(where, size, Sampler() if "profile" in sys.argv[4:] else None))
