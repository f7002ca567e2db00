"""Jobs each second: `python -m bench.ours.celery_lateness STORE BROKER JOBS SECONDS`."""

import asyncio
import sys
import tempfile
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.ours.celery_drain import planner, until, workers
from bench.ours.celery_starts import judged
from bench.ours.celery_worker import PROCESSES, named, started
from bench.ours.process import add_jobs, make_job, open_store, run
from tickwell.clock import wall_millis
from tickwell.domain.gate import Overlap
from tickwell.domain.policy import Misfire, OnMisfire
from tickwell.domain.trigger import Every

#: Seconds after the last fire time until what has not started counts as that late.
AFTER = 3.0
#: Late ones run, however late.
ALL = Misfire(policy=OnMisfire.ALL, grace="1d", cap=1000)


async def fire(where: str, broker: str, jobs: int, seconds: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        starts = Path(folder) / "starts"
        named(where, broker, str(starts))
        store = open_store(where)
        await store.open()
        with started("bench.ours.celery_app"):
            await until(lambda: workers(store), PROCESSES)
            engine = planner(store, where, broker)
            await engine.start()
            first = int(time.time()) + 10
            last = first + seconds - 1
            bounds = {"start": _moment(first), "until": _moment(last)}
            trigger = Every(timedelta(seconds=1), **bounds)
            now = wall_millis()
            made = [make_job(n, "start", trigger, now) for n in range(jobs)]
            # As beat does: it sends whatever still runs.
            allowed = [replace(job, overlap=Overlap.ALLOW, misfire=ALL) for job in made]
            await add_jobs(store, allowed, now)
            await asyncio.sleep(last + AFTER - time.time())
            end = time.time()
            await engine.stop()
        await store.close()
        fires = {f"job-{n}": [float(first + k) for k in range(seconds)] for n in range(jobs)}
        return judged(starts, fires, end)


def _moment(instant: int) -> datetime:
    return datetime.fromtimestamp(instant, UTC)


if __name__ == "__main__":
    run(fire(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
