"""How late the few fires of one project start, beside a crowd of another or alone.

`python -m bench.ours.fairness WHERE due|queued CROWD SECONDS`: the crowd is due at one instant, or
was asked for before it.
"""

import asyncio
import sys
import time
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from bench.ours.process import add_jobs, enqueue, make_engine, make_job, open_store, run
from tickwell.clock import wall_millis
from tickwell.domain.fairness import PLATFORM_PROJECT, PROJECT_KIND
from tickwell.domain.gate import Overlap
from tickwell.domain.trigger import Every, Once
from tickwell.domain.trigger.duration import Millis
from tickwell.executors.run import Run
from tickwell.ports.records import Record

#: Ten fires a second.
PERIOD = "100ms"
#: Seconds from the start to the first instant; the crowd is planned meanwhile.
AHEAD = 5


async def fairness(where: str, kind: str, crowd: int, seconds: int) -> dict[str, Any]:
    """Who is late is counted from the instant on, for as long as there is a crowd."""
    starts: list[tuple[str, float]] = []
    handled, end, gone = 0, float("inf"), asyncio.Event()

    async def note(run: Run) -> None:
        starts.append((run.id, time.time()))

    async def one_of_many(text: str = "") -> None:  # noqa: ARG001 - what is queued has a payload
        nonlocal handled, end
        handled += 1
        if handled == crowd:
            end = time.time()
            gone.set()

    store = open_store(where)
    await store.open()
    now = wall_millis()
    for project in ("loud", "quiet"):
        made = Record(kind=PROJECT_KIND, project=PLATFORM_PROJECT, key=project, document={})
        await store.put_record(made, now)
    # What is added takes a while: 100,000 jobs a few seconds.
    first = now // 1000 + AHEAD + crowd // 4000
    if kind == "queued":
        await enqueue(store, crowd, "one_of_many", project="loud")
        first = wall_millis() // 1000 + 2  # the crowd is drained from the start on
    else:
        at = Once(datetime.fromtimestamp(first, UTC))
        loud = (replace(make_job(n, "one_of_many", at, now), project="loud") for n in range(crowd))
        await add_jobs(store, loud, now)
    now = wall_millis()
    few = make_job(crowd, "note", Every(Millis(PERIOD)), now)
    await add_jobs(store, [replace(few, project="quiet", overlap=Overlap.ALLOW)], now)
    engine = make_engine(store, {"note": note, "one_of_many": one_of_many}, where)
    await engine.start()
    with suppress(TimeoutError):
        await asyncio.wait_for(gone.wait(), first + seconds - 1 - time.time())
    ran = handled
    await asyncio.sleep(1)  # what was due last may be under way
    tenths = max(int((min(end, first + seconds - 1) - first) * 10), 0)
    await engine.stop()
    await store.close()
    fires = [(int(id[:8] + id[9:13], 16) / 1000, at) for id, at in starts]
    return {
        "lateness": [at - fire for fire, at in fires if first <= fire < first + tenths / 10],
        "expected": tenths,
        "crowd": ran,
    }


if __name__ == "__main__":
    run(fairness(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
