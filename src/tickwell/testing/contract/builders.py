"""Jobs, workers and requests for tests: small, readable, and the same in every run."""

from __future__ import annotations

from itertools import count
from random import Random
from typing import Any

from tickwell.domain.execution import Kind, NewExecution
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job
from tickwell.domain.planning import new_execution
from tickwell.domain.policy import MINUTE
from tickwell.domain.target import Call
from tickwell.domain.trigger import Every
from tickwell.domain.worker import Worker
from tickwell.ids import execution_id, new_id

#: When every test begins: midnight, 1 January 2026, UTC. A job every minute fires at MINUTE later.
T0 = 1_767_225_600_000

_random = Random(0)
_numbers = count(1)


def fresh_id(now: int = T0) -> str:
    """A unique id."""
    return new_id(now, _random)


def a_job(name: str | None = None, **fields: Any) -> Job:
    """A job that fires every minute and calls `work`, except for these fields."""
    job: dict[str, Any] = {
        "id": fresh_id(),
        "name": name or f"job-{next(_numbers)}",
        "trigger": Every("1m"),
        "target": Call("work"),
        "created_at": T0,
        "saved_at": T0,
    }
    return Job(**(job | fields))


def a_worker(id: str = "w1", **fields: Any) -> Worker:
    """A worker for the default queue that can call `work`."""
    worker: dict[str, Any] = {
        "id": id,
        "host": "here",
        "pid": 1,
        "queues": ("default",),
        "abilities": ("call:work",),
        "capacity": 10,
        "started_at": T0,
    }
    return Worker(**(worker | fields))


def a_request(
    job: Job,
    at: int,
    *,
    overlap: Overlap = Overlap.ALLOW,
    payload: Any = None,
    key: str | None = None,
) -> NewExecution:
    """A requested run of the job, due at an instant."""
    run = new_execution(
        job, at, id=fresh_id(at), kind=Kind.REQUEST, overlap=overlap, payload=payload
    )
    run.key = key
    return run


def a_backfill(job: Job, fire_time: int, *, overlap: Overlap = Overlap.ALLOW) -> NewExecution:
    """A slot of the job, to be run after all."""
    id = execution_id(job.id, fire_time)
    run = new_execution(job, fire_time, id=id, kind=Kind.FIRE, overlap=overlap)
    run.backfill = True
    return run


def minute(number: int) -> int:
    """The instant this many minutes after T0."""
    return T0 + number * MINUTE
