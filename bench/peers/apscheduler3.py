"""APScheduler 3, jobs in memory: how late it starts jobs that are due at the same instants."""

import argparse
import asyncio
import json
import time
from datetime import UTC, datetime
from typing import Any

from apscheduler.schedulers.asyncio import AsyncIOScheduler  # type: ignore[import-not-found]
from apscheduler.schedulers.background import BackgroundScheduler  # type: ignore[import-not-found]

#: Seconds from the start of this process's loop to the first instant: adding jobs takes a while.
AHEAD = 5


class Starts:
    """When each job was started, in the order of its instants."""

    def __init__(self, jobs: int) -> None:
        self.of: list[list[float]] = [[] for _ in range(jobs)]

    async def note(self, job: int) -> None:
        self.of[job].append(time.time())

    def note_in_thread(self, job: int) -> None:
        self.of[job].append(time.time())


def lateness(starts: Starts, first: int, seconds: int) -> dict[str, Any]:
    """A job's nth start belongs to the nth instant: APScheduler does not tell a job which it is."""
    late = [at - (first + n) for times in starts.of for n, at in enumerate(times)]
    return {
        "fired": len(late),
        "expected": len(starts.of) * seconds,
        "early": sum(each < 0 for each in late),
        "lateness": late,
    }


def options(kind: str, first: int, seconds: int) -> dict[str, Any]:
    """Every second for so many seconds, or one instant."""
    begin, end = (datetime.fromtimestamp(at, UTC) for at in (first, first + seconds - 1))
    if kind == "date":
        return {"trigger": "date", "run_date": begin}
    return {"trigger": "cron", "second": "*", "start_date": begin, "end_date": end}


async def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("kind", choices=["cron", "date"])
    parser.add_argument("jobs", type=int)
    parser.add_argument("seconds", type=int)
    asked = parser.parse_args()
    # Whichever of its two is faster: the loop for jobs that recur, threads for one burst.
    starts = Starts(asked.jobs)
    make, note = {
        "cron": (AsyncIOScheduler, starts.note),
        "date": (BackgroundScheduler, starts.note_in_thread),
    }[asked.kind]
    scheduler = make(timezone=UTC, job_defaults={"misfire_grace_time": None, "coalesce": False})
    first = int(time.time()) + AHEAD + asked.jobs // 2500
    for job in range(asked.jobs):
        scheduler.add_job(note, args=[job], **options(asked.kind, first, asked.seconds))
    scheduler.start()
    cpu = time.process_time()
    await asyncio.sleep(first + asked.seconds + 1 - time.time())
    cpu = time.process_time() - cpu
    print(json.dumps({**lateness(starts, first, asked.seconds), "cpu": cpu}))
    scheduler.shutdown(wait=False)


if __name__ == "__main__":
    asyncio.run(main())
