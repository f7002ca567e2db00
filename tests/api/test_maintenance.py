"""A maintenance window, seen from outside: jobs in it do not run, and run again after it."""

import asyncio

from tickwell import Every, Scheduler, Settings
from tickwell.declared.internals import internals
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.operations import Operations
from tickwell.services.projects.maintenance import Schedule

ADMIN = Actor(name="a", project="default", permissions=frozenset(Permission))


async def test_what_is_covered_does_not_run_until_it_is_ended_and_all_else_does():
    scheduler = Scheduler("memory://", settings=Settings(poll="200ms"))
    ran: asyncio.Queue[str] = asyncio.Queue()

    @scheduler.job(Every("100ms"), tags=["db"])
    async def often() -> None:
        ran.put_nowait("often")

    @scheduler.job(Every("100ms"))
    async def spared() -> None:
        ran.put_nowait("spared")

    await scheduler.open()
    operations = Operations.over(internals(scheduler).operation_context())
    await operations.maintenance.put(ADMIN, "move", Schedule(length=3_600_000), tags=["db"])
    async with scheduler:
        for _ in range(10):
            assert await ran.get() == "spared"
        await operations.maintenance.end(ADMIN, "move")
        while await ran.get() != "often":
            pass
