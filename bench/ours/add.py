"""Adds cron jobs in batches of 1,000: `python -m bench.ours.add WHERE COUNT`."""

import sys
import time

from bench.ours.process import BATCH, make_job, open_store, run
from tickwell.clock import wall_millis
from tickwell.domain.job import Entry
from tickwell.domain.planning import first_cursor
from tickwell.domain.trigger import Cron


async def add(where: str, count: int) -> dict[str, float]:
    """What the store takes; making the definitions is the caller's."""
    store = open_store(where)
    await store.open()
    now = wall_millis()
    triggers = [Cron(f"{minute} {hour} * * *") for hour in range(24) for minute in range(60)]
    jobs = [make_job(n, "noop", triggers[n % len(triggers)], now) for n in range(count)]
    entries = [Entry(job, first_cursor(job, now)) for job in jobs]
    begin, cpu = time.perf_counter(), time.process_time()
    for first in range(0, count, BATCH):
        await store.add_jobs(entries[first : first + BATCH], now)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    await store.close()
    return {"seconds": seconds, "cpu": cpu}


if __name__ == "__main__":
    run(add(sys.argv[1], int(sys.argv[2])))
