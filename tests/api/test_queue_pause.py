"""A paused queue, seen from outside: nothing of it starts until it is resumed."""

import asyncio

import pytest

from tickwell import Scheduler, Settings
from tickwell.declared.internals import internals
from tickwell.errors import InvalidInput
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.operations import Operations, queues

ADMIN = Actor(name="a", project="default", permissions=frozenset(Permission))


async def test_nothing_starts_while_its_queue_is_paused():
    settings = Settings(queues=("default", "slow"), poll="200ms")
    scheduler = Scheduler("memory://", settings=settings)
    ran: asyncio.Queue[str] = asyncio.Queue()

    @scheduler.job(queue="slow")
    async def held() -> None:
        ran.put_nowait("held")

    @scheduler.job()
    async def free() -> None:
        ran.put_nowait("free")

    await scheduler.open()
    operations = Operations.over(internals(scheduler).operation_context())
    await operations.queues.pause(ADMIN, "slow", why="moving")
    async with scheduler:
        await held.trigger()
        await free.trigger()
        assert await ran.get() == "free"
        (slow,) = [each for each in await operations.queues.list(ADMIN) if each.name == "slow"]
        assert sum(slow.depth.values()) == 1
        assert slow.pause is not None
        assert ran.empty()
        await operations.queues.resume(ADMIN, "slow")
        assert await ran.get() == "held"


async def test_no_more_queues_are_paused_than_workers_look_for(monkeypatch):
    monkeypatch.setattr(queues, "MOST_PAUSED", 2)
    scheduler = Scheduler("memory://")
    await scheduler.open()
    operations = Operations.over(internals(scheduler).operation_context())
    for name in ("a", "b", "b"):
        await operations.queues.pause(ADMIN, name, why="moving")
    with pytest.raises(InvalidInput, match="2 queues can be paused at once"):
        await operations.queues.pause(ADMIN, "c", why="moving")
    await operations.queues.resume(ADMIN, "a")
    await operations.queues.pause(ADMIN, "c", why="moving")
    await scheduler.stop()
