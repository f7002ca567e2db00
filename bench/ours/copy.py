"""Copies a store: `python -m bench.ours.copy fill WHERE COUNT` and `… move FROM TO`."""

import random
import sys
import time

from bench.ours.process import open_store, run
from tickwell.domain.execution import Attempt, Execution, Kind, OutcomeKind, State
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Cursor, Entry, Job
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand
from tickwell.ids import new_id
from tickwell.ports.transfer import KeptExecution
from tickwell.services.store_copy import StoreCopy

JOBS, PAGE = 100, 1000
#: One of so many was tried twice.
RETRIED = 10
BEGIN = 1_781_517_600_000

_random = random.Random(1)


async def fill(where: str, count: int) -> dict[str, int]:
    """A history: executions with a payload and a result, some of which failed once before."""
    store = open_store(where)
    await store.open()
    jobs = [
        Job(id=new_id(BEGIN, _random), name=f"job-{n}", trigger=OnDemand(), target=Call("work"))
        for n in range(JOBS)
    ]
    await store.add_jobs([Entry(job, Cursor()) for job in jobs], BEGIN)
    for first in range(0, count, PAGE):
        numbers = range(first, min(first + PAGE, count))
        await store.restore_executions([_kept(jobs[n % JOBS], n) for n in numbers])
    await store.close()
    return {"filled": count}


def _kept(job: Job, number: int) -> KeptExecution:
    at = BEGIN + number * 10
    tries = 2 if number % RETRIED == 0 else 1
    result = {"rows": number, "status": "written"}
    attempts = [
        Attempt(
            number=each,
            outcome=OutcomeKind.SUCCEEDED if each == tries else OutcomeKind.FAILED,
            worker="worker-1",
            started_at=at + each * 1000,
            ended_at=at + each * 1000 + 200,
            error=None if each == tries else "ConnectionError: the other side hung up",
            result=result if each == tries else None,
        )
        for each in range(1, tries + 1)
    ]
    execution = Execution(
        id=new_id(at, _random),
        project=job.project,
        job_id=job.id,
        job_version=1,
        kind=Kind.REQUEST,
        state=State.SUCCEEDED,
        fire_time=at,
        run_at=at,
        queue=job.queue,
        ability=job.ability,
        created_at=at,
        payload={"customer": number, "what": ["report", "bill"]},
        attempt=tries,
        charged=tries,
        worker="worker-1",
        started_at=attempts[-1].started_at,
        ended_at=attempts[-1].ended_at,
        result=result,
        attempts=attempts,
    )
    return KeptExecution(execution=execution, overlap=Overlap.ALLOW)


async def move(source: str, target: str) -> dict[str, float]:
    """Seconds to copy, and to verify afterwards."""
    stores = open_store(source), open_store(target)
    for store in stores:
        await store.open()
    copying = StoreCopy(*stores)
    await copying.prepare()
    begin = time.perf_counter()
    await copying.copy(lambda _: None)
    copied = time.perf_counter()
    tallies = await copying.verify(lambda _: None)
    verified = time.perf_counter()
    for store in stores:
        await store.close()
    return {
        "executions": tallies["executions"].count,
        "copy": copied - begin,
        "verify": verified - copied,
    }


if __name__ == "__main__":
    order, where, other = sys.argv[1:]
    run(fill(where, int(other)) if order == "fill" else move(where, other))
