"""Drains what is in a SQLite store: `python -m bench.ours.drain PATH COUNT`.

COUNT 0: until nothing has come for a second, since others take their share.
"""

import asyncio
import sys
import time
from typing import Any

from bench.ours.process import make_engine, open_store, run
from tickwell.domain.outcome import Report
from tickwell.ports.records import Finished
from tickwell.ports.store import Store

#: Seconds without work after which a process with company takes the queue to be empty.
QUIET = 1.0


class Watched:
    """Notes when reports were written; everything else goes straight to the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.written = 0
        self.last = time.time()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def finish(self, reports: list[Report], now: int) -> Finished:
        finished = await self._store.finish(reports, now)
        self.written += len(reports) - len(finished.refused)
        self.last = time.time()
        return finished


async def drain(path: str, count: int) -> dict[str, float]:
    """Start, drain, stop; say how long the draining took."""
    handled = 0

    async def noop(text: str) -> None:
        nonlocal handled
        handled += 1

    store = open_store(path)
    await store.open()
    engine = make_engine(store, {"noop": noop}, path)
    watched = Watched(store)
    engine.reporter.store = watched  # type: ignore[assignment]
    begin, cpu = time.time(), time.process_time()
    await engine.start()
    while watched.written < count if count else time.time() - watched.last < QUIET:
        await asyncio.sleep(0.005)
    cpu = time.process_time() - cpu
    await engine.stop()
    await store.close()
    return {
        "handled": handled,
        "written": watched.written,
        "begin": begin,
        "end": watched.last,
        "seconds": watched.last - begin,
        "cpu": cpu,
    }


if __name__ == "__main__":
    run(drain(sys.argv[1], int(sys.argv[2])))
