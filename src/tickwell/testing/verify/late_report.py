"""A late report of a lost worker, step by step: a frozen process may notice its loss first."""

from __future__ import annotations

from random import SystemRandom

from tickwell.clock import to_datetime
from tickwell.domain.execution import Claim, Kind, OutcomeKind
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Entry, Job
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.planning import first_cursor, new_execution
from tickwell.domain.policy import DAY, HOUR
from tickwell.domain.target import Call
from tickwell.domain.trigger import Once
from tickwell.domain.worker import Worker
from tickwell.ids import new_id
from tickwell.ports.records import ClaimRequest
from tickwell.ports.store import Store

_ABILITY = "call:zombie"
_LIMIT = 1000


async def late_report(store: Store, now: int) -> list[str]:
    """What is wrong with how the store handles the report of an attempt that was recovered.

    No other process may use the store.
    """
    await _request(store, now)
    first = await _claim(store, "first", now)
    if first is None:
        return ["an execution that was due could not be claimed"]
    pulse = await store.beat(_worker("first", now), now)
    await store.declare_lost("first", pulse.beat, now)
    lost = Outcome(kind=OutcomeKind.LOST, error="the worker died or hung")
    await store.finish([decide(one, lost, now) for one in await store.orphans(now, _LIMIT)], now)
    later = now + HOUR  # past any wait before the next attempt
    await store.promote(later, 0, _LIMIT)
    second = await _claim(store, "second", later)
    if second is None:
        return [f"{first.id} could not be claimed again after its worker was lost"]
    done = Outcome(kind=OutcomeKind.SUCCEEDED, started_at=now)
    finished = await store.finish([decide(first, done, later)], later)
    if finished.refused:
        return []
    return [f"the late report of attempt 1 of {first.id} was applied to attempt 2"]


async def _request(store: Store, now: int) -> None:
    random = SystemRandom()
    id = new_id(now, random)
    job = Job(
        id=id,
        name=f"verify-{id}",
        trigger=Once(to_datetime(now + DAY)),
        target=Call("zombie"),
        created_at=now,
        saved_at=now,
    )
    await store.add_jobs([Entry(job, first_cursor(job, now))], now)
    run = new_execution(job, now, id=new_id(now, random), kind=Kind.REQUEST, overlap=Overlap.ALLOW)
    await store.add_executions([run], now, 0)


async def _claim(store: Store, worker: str, now: int) -> Claim | None:
    await store.beat(_worker(worker, now), now)
    request = ClaimRequest(
        worker=worker,
        claim_id=new_id(now, SystemRandom()),
        now=now,
        lead=0,
        limit=1,
        queues=("default",),
        abilities=frozenset({_ABILITY}),
    )
    claims = await store.claim(request)
    return claims[0] if claims else None


def _worker(id: str, now: int) -> Worker:
    return Worker(
        id=id,
        host="",
        pid=0,
        queues=("default",),
        abilities=(_ABILITY,),
        capacity=1,
        started_at=now,
    )
