"""A step that meets the end of its attempt."""

import asyncio

from tests.servers.schemas import run, somebody_waits
from tickwell.domain.step import Step
from tickwell.domain.trigger import OnDemand
from tickwell.testing.contract.builders import T0, a_request


async def two_wait_or(task):
    """Until two transactions stand before locks of others, or the task is done."""
    while not task.done():
        [(count,)] = await run("SELECT count(*) FROM pg_locks WHERE NOT granted")
        if count > 1:
            return


async def test_an_attempt_does_not_end_while_its_step_is_written(scene, store, owner):
    job = await scene.job(trigger=OnDemand())
    await scene.run(a_request(job, T0))
    claim = await scene.claim_one(T0)
    done = Step(execution=claim.id, attempt=1, name="charge", value=1, at=T0)
    # The step finds its attempt under way, and then waits for somebody with the same name.
    between = owner.transaction()
    await between.start()
    await owner.execute(
        f"INSERT INTO stores.step VALUES ('{claim.id}', 'charge', 1, 0, false, '0')"
    )
    writing = asyncio.create_task(store.write_steps([done]))
    await somebody_waits()
    ending = asyncio.create_task(scene.fail(claim, T0 + 1, delay=0))
    await two_wait_or(ending)
    assert not ending.done()
    await between.rollback()
    assert await writing == []
    assert (await ending).refused == []
    again = await scene.claim_one(T0 + 1)
    assert await store.list_steps("default", again.id) == [done]
