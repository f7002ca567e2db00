"""Drains what is in a store: `python -m bench.ours.drain WHERE COUNT [profile | INSTANT]`.

COUNT 0: until no more come, since others take their share; they begin together at an instant.
"""

import asyncio
import sys
import time

from bench.ours.process import make_engine, open_store, run
from bench.ours.watched import Watched
from bench.profile import Sampler, show


async def drain(
    path: str, count: int, sampler: Sampler | None = None, instant: float = 0.0
) -> dict[str, float]:
    """Start, drain, stop; say how long the draining took."""
    handled = 0

    async def noop(text: str) -> None:
        nonlocal handled
        handled += len(text) > 0

    store = open_store(path)
    await store.open()
    engine = make_engine(store, {"noop": noop}, path)
    watched = Watched(store)
    engine.reporter.store = watched  # type: ignore[assignment]
    await asyncio.sleep(max(instant - time.time(), 0))
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
    return {
        "handled": handled,
        "written": watched.written,
        "given_back": watched.given_back,
        "begin": begin,
        "end": watched.last,
        "seconds": watched.last - begin,
        "cpu": cpu,
    }


if __name__ == "__main__":
    where, many, *how = sys.argv[1:]
    if how == ["profile"]:
        run(drain(where, int(many), Sampler()))
    else:
        run(drain(where, int(many), instant=float(how[0]) if how else 0.0))
