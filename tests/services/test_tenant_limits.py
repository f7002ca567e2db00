"""Runs of one project hang, those of another end: on real stores, by a running engine."""

import asyncio
import random

import pytest

from tests.servers.schemas import empty, url
from tickwell.clock import StoreClock
from tickwell.domain.event import AttemptsFinished, Events
from tickwell.domain.execution import State
from tickwell.domain.fairness import PLATFORM_PROJECT, PROJECT_KIND
from tickwell.domain.outcome import Report
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand
from tickwell.engine.engine import Engine
from tickwell.ports.records import ExecutionFilter, Record
from tickwell.ports.store import Store
from tickwell.services.executions.executions import Executions
from tickwell.services.jobs.jobs import Jobs
from tickwell.settings import Settings
from tickwell.stores.postgres import PostgresStore
from tickwell.stores.sqlite import SqliteStore
from tickwell.testing import FakeExecutor
from tickwell.testing.contract.builders import a_job

SCHEMA = "shares"
HANGING, QUIET = 300, 20


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request, tmp_path):
    store: Store
    if request.param == "sqlite":
        store = SqliteStore(tmp_path / "jobs.db")
    else:
        await empty(SCHEMA)
        store = PostgresStore.from_url(url(SCHEMA))
    await store.open()
    yield store
    await store.close()


async def running(store, project):
    where = ExecutionFilter(project=project, states=frozenset({State.RUNNING}))
    return (await store.list_executions(where, limit=1000)).items


async def test_runs_that_hang_leave_slots_to_another_project(store):
    clock, executor = StoreClock(), FakeExecutor("hang", "quick")
    executor.hold("hang")
    now = await store.ping()
    clock.sample(now, clock.monotonic(), clock.monotonic())
    made = Record(kind=PROJECT_KIND, project=PLATFORM_PROJECT, key="loud", document={})
    await store.put_record(made, now)
    ended: asyncio.Queue[Report] = asyncio.Queue()
    events = Events()

    def on_event(event):
        if isinstance(event, AttemptsFinished):
            for report in event.reports:
                if report.claim.job.project == "quiet":
                    ended.put_nowait(report)

    events.subscribe(on_event)
    settings = Settings(capacity=10)
    engine = Engine(store, executor, clock, settings, random=random.Random(1), events=events)
    jobs = Jobs(store, clock, random.Random(2), engine.wake)
    executions = Executions(store, clock, random.Random(3), engine.wake)
    await jobs.add(a_job("job", project="loud", target=Call("hang"), trigger=OnDemand()))
    await jobs.add(a_job("job", project="quiet", target=Call("quick"), trigger=OnDemand()))
    for _ in range(HANGING):
        await executions.trigger("loud", "job")
    await engine.start()
    try:
        for _ in range(QUIET):
            run = await executions.trigger("quiet", "job")
            async with asyncio.timeout(100):
                await ended.get()
            assert (await executions.get("quiet", run.id)).state is State.SUCCEEDED
        assert sum(call.handler == "hang" for call in executor.calls) == 8
    finally:
        executor.release("hang")
        await engine.stop()
    assert not await running(store, "loud")
