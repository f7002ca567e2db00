"""A process of Tickwell as it is measured: store, handlers and engine with default settings."""

import asyncio
import json
import random
import sys
from collections.abc import Callable, Coroutine, Iterable
from dataclasses import replace
from typing import Any

from tickwell.clock import StoreClock, wall_millis
from tickwell.domain.execution import Kind, NewExecution
from tickwell.domain.fairness import FIRST_PROJECT, Fairness
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Entry, Job
from tickwell.domain.planning import first_cursor, new_execution
from tickwell.domain.target import Call, Target
from tickwell.domain.trigger import OnDemand, Trigger
from tickwell.engine.engine import Engine
from tickwell.executors.call import CallExecutor
from tickwell.executors.handlers import Handlers
from tickwell.ids import new_id
from tickwell.ports.store import Store
from tickwell.settings import Settings
from tickwell.wiring import have_for_ourselves, loop_factory, make_store

#: Rows added to a store at once, and runs of one job: no more than its retention keeps.
BATCH = 1000
PAYLOAD = {"text": "x" * 189}  # 200 bytes as JSON


def open_store(where: str) -> Any:
    """The store at a path or a URL, not yet opened."""
    return make_store(url_of(where))


def url_of(where: str) -> str:
    """A path is that of a SQLite file."""
    return where if "://" in where else f"sqlite:///{where}"


def make_engine(store: Any, handlers: dict[str, Callable[..., Any]], where: str) -> Engine:
    """Planner, worker and reaper, with a pulse in its own thread, as in production."""
    registered = Handlers()
    for name, function in handlers.items():
        registered.add(name, function)
    return Engine(
        store,
        CallExecutor(registered),
        StoreClock(),
        Settings(store=url_of(where)),
        random=random.Random(),
        notifier=store,
        open_pulse_store=lambda: open_store(where),
    )


def make_job(number: int, what: str | Target, trigger: Trigger, now: int) -> Job:
    """A job with default policies, of a handler or of another target."""
    return Job(
        id=new_id(now, random.Random(number)),
        name=f"job-{number}",
        trigger=trigger,
        target=Call(what) if isinstance(what, str) else what,
        created_at=now,
        saved_at=now,
    )


async def add_jobs(store: Store, jobs: Iterable[Job], now: int) -> None:
    """Add jobs in batches."""
    entries = [Entry(job, first_cursor(job, now)) for job in jobs]
    for begin in range(0, len(entries), BATCH):
        await store.add_jobs(entries[begin : begin + BATCH], now)


async def enqueue(
    store: Store, count: int, what: str | Target = "noop", project: str = FIRST_PROJECT
) -> None:
    """Requested runs of a few jobs, 200 bytes of payload each, one a millisecond until now.

    Those of another project than the first stand behind the others' as if asked for over the API.
    """
    now, seeded, fairness = wall_millis(), random.Random(0), Fairness()
    made = (make_job(n, what, OnDemand(), now) for n in range(-(-count // BATCH)))
    jobs = [replace(job, project=project) for job in made]
    await add_jobs(store, jobs, now)
    asked_at = range(now - count, now)
    for begin in range(0, count, BATCH):
        batch = enumerate(asked_at[begin : begin + BATCH], begin)
        runs = [_run(jobs[n % len(jobs)], at, seeded) for n, at in batch]
        if project != FIRST_PROJECT:
            for one in runs:
                one.rank += fairness.delay(project, now)
        await store.add_executions(runs, now, horizon=0)


def _run(job: Job, asked_at: int, seeded: random.Random) -> NewExecution:
    return new_execution(
        job,
        asked_at,
        id=new_id(asked_at, seeded),
        kind=Kind.REQUEST,
        overlap=Overlap.ALLOW,
        payload=PAYLOAD,
    )


def run(main: Coroutine[Any, Any, Any]) -> None:
    """Run as `serve` does; print the answer as JSON."""
    have_for_ourselves()
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        answer = runner.run(main)
    json.dump(answer, sys.stdout)
    print()
