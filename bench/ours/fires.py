"""What a fire costs: `python -m bench.ours.fires WHERE JOBS` adds jobs that are due, and runs them.

Due a second ago, so that nothing waits for an instant: planned, claimed, run and finished flat out.
"""

import os
import sys
import time
from datetime import UTC, datetime

from bench.ours.process import add_jobs, make_engine, make_job, open_store, run
from bench.ours.watched import Watched
from tickwell.clock import wall_millis
from tickwell.domain.trigger import Once


async def fires(path: str, jobs: int) -> dict[str, float]:
    """CPU and wall time from the engine's start to the last report written."""

    async def noop() -> None:
        return

    store = open_store(path)
    await store.open()
    now = wall_millis()
    past = Once(datetime.fromtimestamp((now - 1000) // 1000, UTC))
    # Names differ from round to round: the store is used again.
    numbers = range(os.getpid() * 10_000_000, os.getpid() * 10_000_000 + jobs)
    await add_jobs(store, (make_job(n, "noop", past, now) for n in numbers), now)
    engine = make_engine(store, {"noop": noop}, path)
    watched = Watched(store)
    engine.reporter.store = watched  # type: ignore[assignment]
    begin, cpu = time.time(), time.process_time()
    await engine.start()
    await watched.until(jobs)
    cpu = time.process_time() - cpu
    await engine.stop()
    await store.close()
    return {"wall": watched.last - begin, "cpu": cpu, "fired": watched.written}


if __name__ == "__main__":
    run(fires(sys.argv[1], int(sys.argv[2])))
