"""How late handlers start that are due at the same instants.

`python -m bench.ours.lateness WHERE cron|once JOBS SECONDS`, as in `bench/peers/apscheduler3.py`.
"""

import asyncio
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

from bench.ours.process import add_jobs, make_engine, make_job, open_store, run
from tickwell.clock import wall_millis
from tickwell.domain.trigger import Cron, Once, Trigger
from tickwell.executors.run import Run

#: Seconds from the start to the first instant, as for the peer.
AHEAD = 5
#: Seconds after the last instant within which all have started, or are taken for lost.
LONGEST = 10


def trigger(kind: str, first: int, seconds: int) -> Trigger:
    """Every second for so many seconds, or one instant."""
    begin, end = (datetime.fromtimestamp(at, UTC) for at in (first, first + seconds - 1))
    return Once(begin) if kind == "once" else Cron("* * * * * *", start=begin, until=end)


async def lateness(path: str, kind: str, jobs: int, seconds: int) -> dict[str, Any]:
    """An execution's id begins with its fire time, so that each start knows what it belongs to."""
    starts: list[tuple[str, float]] = []
    all_began = asyncio.Event()

    async def note(run: Run) -> None:
        starts.append((run.id, time.time()))
        if len(starts) == jobs * seconds:
            all_began.set()

    now = wall_millis()
    first = now // 1000 + AHEAD + jobs // 2500
    store = open_store(path)
    await store.open()
    shared = trigger(kind, first, seconds)
    await add_jobs(store, (make_job(n, "note", shared, now) for n in range(jobs)), now)
    engine = make_engine(store, {"note": note}, path)
    cpu = time.process_time()
    await engine.start()
    await asyncio.sleep(first + seconds + 1 - time.time())
    # A burst may take longer than that: all of it is measured, not the part that was in time.
    with suppress(TimeoutError):
        await asyncio.wait_for(all_began.wait(), LONGEST)
    cpu = time.process_time() - cpu
    await engine.stop()
    states = {str(state): count for state, count in (await store.stats()).items()}
    await store.close()
    late = [at - int(id[:8] + id[9:13], 16) / 1000 for id, at in starts]
    return {
        "fired": len(starts),
        "expected": jobs * seconds,
        "early": sum(each < 0 for each in late),
        "twice": len(starts) - len({id for id, _ in starts}),
        "states": states,
        "lateness": late,
        "cpu": cpu,
    }


if __name__ == "__main__":
    run(lateness(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
