"""Rated keys with a backlog: `python -m bench.ours.rates fill WHERE`, filled once.

`work WHERE INSTANT SECONDS` works on it from an instant on; `judge WHERE FROM TO` reads what came
of it between two instants.
"""

import asyncio
import random
import sys
import time
from collections import defaultdict
from dataclasses import replace

from bench.ours.process import add_jobs, make_engine, make_job, open_store, run
from tickwell.clock import wall_millis
from tickwell.domain.execution import Kind
from tickwell.domain.gate import Overlap
from tickwell.domain.planning import new_execution
from tickwell.domain.trigger import OnDemand
from tickwell.ids import new_ids
from tickwell.ports.records import ExecutionFilter

KEYS = 1_000
#: Starts of each key in any period, and its milliseconds: 100 a second in all.
LIMIT, PERIOD = 1, 10_000
#: Runs of each key: more than may start in the longest measurement.
BACKLOG = 10
PAGE = 1_000


async def fill(where: str) -> dict[str, int]:
    """Jobs with one rate key, and for each of its values a run of each job."""
    now, seeded = wall_millis(), random.Random(0)
    store = open_store(where)
    await store.open()
    made = [make_job(number, "noop", OnDemand(), now) for number in range(BACKLOG)]
    rate = f"{LIMIT}/{PERIOD}ms"
    jobs = [replace(job, rate=rate, rate_key="{payload.customer}") for job in made]
    await add_jobs(store, jobs, now)
    for job in jobs:
        runs = [
            new_execution(
                job,
                now,
                id=id,
                kind=Kind.REQUEST,
                overlap=Overlap.ALLOW,
                payload={"customer": key},
            )
            for key, id in enumerate(new_ids(now, seeded, KEYS))
        ]
        await store.add_executions(runs, now, horizon=0)
    await store.close()
    return {"added": KEYS * BACKLOG}


async def work(where: str, instant: float, seconds: float) -> dict[str, int]:
    """Plan and work beside others, all from an instant on."""
    handled = 0

    async def noop(customer: int) -> None:
        nonlocal handled
        handled += customer >= 0

    store = open_store(where)
    await store.open()
    engine = make_engine(store, {"noop": noop}, where)
    await asyncio.sleep(max(instant - time.time(), 0))
    await engine.start()
    await asyncio.sleep(seconds)
    await engine.stop()
    await store.close()
    return {"handled": handled}


async def judge(where: str, begin: int, end: int) -> dict[str, float]:
    """Starts that no period allows; and for how much of the time permits were in use."""
    store = open_store(where)
    await store.open()
    starts: dict[int, list[int]] = defaultdict(list)
    page = await store.list_executions(ExecutionFilter(), limit=PAGE)
    found = page.items
    while page.cursor is not None:
        page = await store.list_executions(ExecutionFilter(), page.cursor, limit=PAGE)
        found += page.items
    for one in found:
        if one.started_at is not None:
            starts[one.payload["customer"]].append(one.started_at)
    await store.close()
    too_many = used = 0
    for each in starts.values():
        each.sort()
        pairs = zip(each, each[LIMIT:], strict=False)
        too_many += sum(later - start < PERIOD for start, later in pairs)
        used += sum(max(min(at + PERIOD, end) - max(at, begin), 0) for at in each)
    return {
        "starts": sum(map(len, starts.values())),
        "too_many": too_many,
        "used": used / (KEYS * LIMIT * (end - begin)),
    }


if __name__ == "__main__":
    what, store_at, *numbers = sys.argv[1:]
    if what == "fill":
        run(fill(store_at))
    elif what == "work":
        run(work(store_at, float(numbers[0]), float(numbers[1])))
    else:
        run(judge(store_at, int(numbers[0]), int(numbers[1])))
