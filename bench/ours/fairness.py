"""How late the few fires of one project start, beside a crowd of another or alone.

`python -m bench.ours.fairness WHERE CROWD SECONDS`
"""

import asyncio
import sys
import time
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bench.ours.process import add_jobs, make_engine, make_job, open_store, run
from tickwell.clock import wall_millis
from tickwell.domain.gate import Overlap
from tickwell.domain.share import PROJECT_KIND, PROJECT_PLACE
from tickwell.domain.trigger import Every, Once
from tickwell.executors.run import Run
from tickwell.ports.records import Record

#: Ten fires a second.
PERIOD = "100ms"
#: Seconds from the start to the first instant; the crowd is planned meanwhile.
AHEAD = 5


async def fairness(where: str, crowd: int, seconds: int) -> dict[str, Any]:
    """The crowd is due at one instant; who is late is counted from then on."""
    starts: list[tuple[str, float]] = []
    handled = 0

    async def note(run: Run) -> None:
        starts.append((run.id, time.time()))

    async def one_of_many() -> None:
        nonlocal handled
        handled += 1

    store = open_store(where)
    await store.open()
    now = wall_millis()
    for project in ("loud", "quiet"):
        made = Record(kind=PROJECT_KIND, project=PROJECT_PLACE, key=project, document={})
        await store.put_record(made, now)
    # What is added takes a while: 100,000 jobs a few seconds.
    first = now // 1000 + AHEAD + crowd // 2500
    at = Once(datetime.fromtimestamp(first, UTC))
    loud = (replace(make_job(n, "one_of_many", at, now), project="loud") for n in range(crowd))
    await add_jobs(store, loud, now)
    few = make_job(crowd, "note", Every(PERIOD), now)
    await add_jobs(store, [replace(few, project="quiet", overlap=Overlap.ALLOW)], now)
    engine = make_engine(store, {"note": note, "one_of_many": one_of_many}, where)
    await engine.start()
    await asyncio.sleep(first + seconds - time.time())
    ran = handled
    await engine.stop()
    await store.close()
    fires = [(int(id[:8] + id[9:13], 16) / 1000, at) for id, at in starts]
    return {
        "lateness": [at - fire for fire, at in fires if first <= fire < first + seconds - 1],
        "expected": (seconds - 1) * 10,
        "crowd": ran,
    }


if __name__ == "__main__":
    run(fairness(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
