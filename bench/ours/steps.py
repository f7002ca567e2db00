"""Writes COUNT steps of 100 attempts: `python -m bench.ours.steps WHERE COUNT`."""

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable
from random import Random
from statistics import median
from typing import Any

from bench.ours.process import add_jobs, make_job, open_store, run
from tickwell.clock import StoreClock, wall_millis
from tickwell.domain.execution import Claim, Kind
from tickwell.domain.gate import Overlap
from tickwell.domain.planning import new_execution
from tickwell.domain.trigger import OnDemand
from tickwell.domain.worker import Worker
from tickwell.executors.notes import StoreNotes
from tickwell.executors.run import Run
from tickwell.ids import new_id
from tickwell.ports.records import ClaimRequest

ATTEMPTS = 100
#: Writes one after the other.
ALONE = 300
RESULT = {"receipt": "r-0123456789", "status": "paid", "cents": 12_345}


async def measure(where: str, count: int) -> dict[str, float]:
    """Steps a second of all attempts together; seconds of one step, and of one heartbeat."""
    store = open_store(where)
    await store.open()
    claims = await _claims(store)
    notes = StoreNotes(store, StoreClock())
    notes.attach()
    begin = time.perf_counter()
    await asyncio.gather(*(_attempt(Run(claim, notes), count // ATTEMPTS) for claim in claims))
    rate = count / (time.perf_counter() - begin)
    worker, last = _worker(), claims[-1]

    async def step(number: int) -> None:
        await notes.write_step(last, f"alone-{number}", RESULT, is_final=True)

    async def beat(_: int) -> None:
        await store.beat(worker, wall_millis())

    alone = [await _timed(step), await _timed(beat)]
    await notes.close()
    await store.close()
    return {"rate": rate, "step": alone[0], "beat": alone[1]}


async def _attempt(run: Run, count: int) -> None:
    for number in range(count):
        await run.step(f"step-{number}", lambda: RESULT)


async def _timed(call: Callable[[int], Awaitable[None]]) -> float:
    taken = []
    for number in range(ALONE):
        begin = time.perf_counter()
        await call(number)
        taken.append(time.perf_counter() - begin)
    return median(taken)


def _worker() -> Worker:
    return Worker(
        id="bench",
        host="bench",
        pid=1,
        queues=("default",),
        abilities=("call:work",),
        capacity=ATTEMPTS,
        started_at=wall_millis(),
    )


async def _claims(store: Any) -> list[Claim]:
    """Attempts under way."""
    now, random = wall_millis(), Random(1)
    job = make_job(1, "work", OnDemand(), now)
    await add_jobs(store, [job], now)
    runs = [
        new_execution(job, now, id=new_id(now, random), kind=Kind.REQUEST, overlap=Overlap.ALLOW)
        for _ in range(ATTEMPTS)
    ]
    await store.add_executions(runs, now, horizon=0)
    await store.beat(_worker(), now)
    request = ClaimRequest(
        worker="bench",
        claim_id="bench",
        now=now,
        lead=0,
        limit=ATTEMPTS,
        queues=("default",),
        abilities=frozenset({"call:work"}),
    )
    claims: list[Claim] = await store.claim(request)
    return claims


if __name__ == "__main__":
    run(measure(sys.argv[1], int(sys.argv[2])))
