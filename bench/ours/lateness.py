"""How late handlers start that are due at the same instants, or one after the other.

`python -m bench.ours.lateness WHERE cron|once|spread JOBS SECONDS`, as in
`bench/peers/apscheduler3.py`, which knows the first two.
"""

import asyncio
import sys
import time
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any

from bench.ours.process import add_jobs, make_engine, make_job, open_store, run
from tickwell.clock import wall_millis
from tickwell.domain.trigger import Cron, Every, Once, Trigger
from tickwell.domain.trigger.duration import Millis
from tickwell.executors.run import Run

#: Seconds from the start to the first instant, as for the peer.
AHEAD = 5
#: Seconds after the last instant within which all have started, or are taken for lost.
LONGEST = 10
_MS = timedelta(milliseconds=1)


def triggers(kind: str, jobs: int, first: int, seconds: int) -> list[Trigger]:
    """Every second for so many seconds, at once or spread over the second; or one instant."""
    if kind == "spread":
        begin, end = (datetime.fromtimestamp(at, UTC) for at in (first, first + seconds))
        phases = [1000 * number // jobs for number in range(jobs)]
        return [Every("1s", phase=Millis(phase), start=begin, until=end - _MS) for phase in phases]
    begin, end = (datetime.fromtimestamp(at, UTC) for at in (first, first + seconds - 1))
    one: Trigger = Once(begin) if kind == "once" else Cron("* * * * * *", start=begin, until=end)
    return [one] * jobs


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
    given = enumerate(triggers(kind, jobs, first, seconds))
    await add_jobs(store, (make_job(n, "note", each, now) for n, each in given), now)
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
