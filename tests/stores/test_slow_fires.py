"""Fires that meet a busy gate are written a few at a time: gates stay locked only so long."""

import pytest

from tests.servers import mariadb_tables, schemas
from tickwell.domain.execution import State
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.policy import Misfire, OnMisfire
from tickwell.stores.sql.flow import firing
from tickwell.testing.contract.builders import a_job, minute
from tickwell.testing.contract.scene import Scene
from tickwell.wiring import make_store

JOBS = 5


@pytest.fixture(params=[schemas, mariadb_tables], ids=["postgresql", "mysql"])
async def scene(request):
    await request.param.empty("slowly_")
    store = make_store(request.param.url("slowly_"))
    await store.open()
    yield Scene(store)
    await store.close()


async def test_a_transaction_takes_a_few_of_them(scene, monkeypatch):
    monkeypatch.setattr(firing, "SLOWLY", 2)
    gate = Concurrency("shared", limit=JOBS)
    busy = [a_job(f"b{n}", overlap=Overlap.QUEUE_ONE, concurrency=gate) for n in range(JOBS)]
    free = [a_job(f"f{n}", overlap=Overlap.ALLOW) for n in range(JOBS)]
    await scene.add(*busy, *free)
    await scene.fire(minute(1))
    fired = [await scene.fire(minute(2))]
    while fired[-1].more:
        fired.append(await scene.fire(minute(2)))
    # Those that meet no gate are not held up.
    assert [each.executions for each in fired] == [JOBS + 2, 2, 1]
    for job in busy:
        assert await scene.states(job) == [State.QUEUED, State.BLOCKED]
    for job in free:
        assert await scene.states(job) == [State.QUEUED] * 2


async def test_a_job_with_more_than_that_is_taken_alone(scene, monkeypatch):
    monkeypatch.setattr(firing, "SLOWLY", 2)
    catching_up = Misfire(policy=OnMisfire.ALL)
    jobs = [a_job(f"b{n}", overlap=Overlap.QUEUE_ONE, misfire=catching_up) for n in range(2)]
    await scene.add(*jobs)
    for more in (True, False):
        fired = await scene.fire(minute(4))
        assert (fired.jobs, fired.executions, fired.more) == (1, 4, more)
    for job in jobs:
        skipped = [State.SKIPPED] * 2
        assert await scene.states(job) == [State.QUEUED, *skipped, State.BLOCKED]
