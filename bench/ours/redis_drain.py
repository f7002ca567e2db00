"""Fills or drains a prefix: `python -m bench.ours.redis_drain fill|drain URL COUNT [profile]`."""

import random
import sys
import time

from bench.ours.process import enqueue, run
from bench.ours.watched import Watched
from bench.profile import Sampler, show
from tickwell.clock import StoreClock
from tickwell.engine.engine import Engine
from tickwell.executors.call import CallExecutor
from tickwell.executors.handlers import Handlers
from tickwell.settings import Settings
from tickwell.stores.redis import RedisStore


async def fill(url: str, count: int) -> dict[str, int]:
    """Add the runs."""
    store = RedisStore.from_url(url)
    await store.open()
    await enqueue(store, count)
    await store.close()
    return {"enqueued": count}


async def drain(url: str, count: int, sampler: Sampler | None = None) -> dict[str, float]:
    """Start, drain, stop; say how long the draining took."""
    handled = 0

    async def noop(text: str) -> None:
        nonlocal handled
        handled += len(text) > 0

    store, handlers = RedisStore.from_url(url), Handlers()
    handlers.add("noop", noop)
    await store.open()
    engine = Engine(
        store,
        CallExecutor(handlers),
        StoreClock(),
        Settings(store=url),
        random=random.Random(),
        notifier=store,
        open_pulse_store=lambda: RedisStore.from_url(url),
    )
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
