"""Lists for people: a page passes over so many that do not match, and says where to look further.

To be imported by the tests of a store.
"""

from dataclasses import replace

import pytest

from tickwell.domain.execution import State
from tickwell.domain.trigger import OnDemand
from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.testing.contract.builders import T0, a_request


async def pages(ask, where):
    """How many items each page has, read to the end."""
    page = await ask(where, limit=2)
    counts = [len(page.items)]
    while page.cursor is not None:
        page = await ask(where, page.cursor, limit=2)
        counts.append(len(page.items))
    return counts


async def test_a_page_of_jobs_looks_only_so_far(scene):
    for number in range(7):
        await scene.job(f"job-{number}", tags=("rare",) if number == 4 else ())
    await scene.job("job-9", project="other")
    where, ask = JobFilter(project="default", tag="rare", look=3), scene.store.list_jobs
    assert await pages(ask, where) == [0, 1, 0]
    assert await pages(ask, replace(where, tag="none")) == [0, 0, 0]
    assert await pages(ask, replace(where, tag="none", look=None)) == [0]


@pytest.mark.parametrize("states", [None, {State.SUCCEEDED}, {State.SUCCEEDED, State.DEAD}])
async def test_a_page_of_executions_looks_only_so_far(scene, states):
    job = await scene.job(trigger=OnDemand())
    rare = await scene.job(trigger=OnDemand(), queue="rare")
    await scene.run(*(a_request(rare if n == 2 else job, T0) for n in range(7)))
    await scene.succeed(await scene.claim(T0, queues=("default", "rare")), T0)
    chosen = None if states is None else frozenset(states)
    where = ExecutionFilter(project="default", queue="rare", states=chosen, look=3)
    ask = scene.store.list_executions
    assert sorted(await pages(ask, where)) == [0, 0, 1]  # ids of one instant are in any order
    assert await pages(ask, replace(where, queue="none")) == [0, 0, 0]
    assert await pages(ask, replace(where, queue="none", look=None)) == [0]
    assert await pages(ask, replace(where, job_id=rare.id)) == [1]
