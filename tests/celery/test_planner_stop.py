"""A planner that sends hints leaves nothing behind when it stops."""

import asyncio
from functools import partial

from tickwell.clock import wall_millis
from tickwell.declared.internals import internals
from tickwell.domain.event import StepFailed
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.engine.hints.dispatcher import KIND
from tickwell.scheduler import Scheduler
from tickwell.settings import Settings

#: Nothing listens there.
NOWHERE = "redis://127.0.0.1:1/0"


def notice(failed, event):
    if isinstance(event, StepFailed):
        failed.set()


async def leases(scheduler):
    """Those that have not run out."""
    store = internals(scheduler).store
    return await store.list_records(KIND, PLATFORM_PROJECT, "", wall_millis())


async def started_and_stopped(store, **settings):
    """The listeners after three starts of a planner."""
    scheduler = Scheduler(store, settings=Settings(**settings))
    for _ in range(3):
        failed = asyncio.Event()
        leave = internals(scheduler).events.subscribe(partial(notice, failed))
        await scheduler.start({"planner"})
        if settings:
            await failed.wait()  # the dispatcher has its lease, and no broker
            # Where the machine stood still it has run out, and is taken again.
            async with asyncio.timeout(100):
                while not await leases(scheduler):  # noqa: ASYNC110 - no event tells of it
                    await asyncio.sleep(0.01)
        await scheduler.stop()
        leave()
    await scheduler.open()
    left = await leases(scheduler)
    await scheduler.stop()
    assert left == []
    return len(internals(scheduler).events._listeners)


async def test_a_planner_that_stops_leaves_neither_lease_nor_listener(tmp_path):
    store = f"sqlite:///{tmp_path}/jobs.db"
    plain = await started_and_stopped(store)
    assert await started_and_stopped(store, engine="celery", broker=NOWHERE) == plain
