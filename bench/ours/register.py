"""Registers jobs that are not due for months: `python -m bench.ours.register PATH COUNT`."""

import random
import sys
from datetime import UTC, datetime, timedelta

from bench.ours.process import BATCH, add_jobs, make_job, open_store, run
from tickwell.clock import wall_millis
from tickwell.domain.trigger import Cron


async def register(path: str, count: int) -> dict[str, int]:
    """Through the store's own door, in batches."""
    store = open_store(path)
    await store.open()
    now, seeded = wall_millis(), random.Random(0)
    for begin in range(0, count, BATCH):
        numbers = range(begin, min(begin + BATCH, count))
        await add_jobs(store, (make_job(n, "noop", _some_day(seeded), now) for n in numbers), now)
    await store.close()
    return {"registered": count}


def _some_day(seeded: random.Random) -> Cron:
    """Once a year, two to eight months from now."""
    day = datetime.now(UTC) + timedelta(days=seeded.randrange(60, 240))
    minute, hour = seeded.randrange(60), seeded.randrange(24)
    return Cron(f"{minute} {hour} {min(day.day, 28)} {day.month} *")


if __name__ == "__main__":
    run(register(sys.argv[1], int(sys.argv[2])))
