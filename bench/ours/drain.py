"""Drains what is in a store: `python -m bench.ours.drain WHERE COUNT [profile]`.

COUNT 0: until no more come, since others take their share.
"""

import sys
import time

from bench.ours.process import make_engine, open_store, run
from bench.ours.watched import Watched
from bench.profile import Sampler, show


async def drain(path: str, count: int, sampler: Sampler | None = None) -> dict[str, float]:
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
    run(drain(sys.argv[1], int(sys.argv[2]), Sampler() if "profile" in sys.argv[3:] else None))
