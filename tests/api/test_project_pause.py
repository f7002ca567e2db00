"""A paused project, seen from outside: nothing of it fires, and what is requested runs."""

import asyncio

from tickwell import Every, Scheduler, Settings
from tickwell.declared.internals import internals
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.operations import Operations

ADMIN = Actor(name="a", project="default", permissions=frozenset(Permission))


async def test_nothing_fires_while_its_project_is_paused_and_requests_run():
    scheduler = Scheduler("memory://", settings=Settings(poll="200ms"))
    ran: asyncio.Queue[str] = asyncio.Queue()

    @scheduler.job(Every("100ms"))
    async def often() -> None:
        ran.put_nowait("often")

    @scheduler.job()
    async def asked() -> None:
        ran.put_nowait("asked")

    await scheduler.open()
    operations = Operations.over(internals(scheduler).operation_context())
    await operations.pauses.pause(ADMIN, why="moving")
    async with scheduler:
        job = await scheduler.get_job("often")
        assert job.pause is not None
        assert (job.state, job.pause.by, job.pause.scope) == ("paused", "a", "project")
        await asked.trigger()
        assert await ran.get() == "asked"
        assert ran.empty()
        await operations.pauses.resume(ADMIN)
        assert await ran.get() == "often"
