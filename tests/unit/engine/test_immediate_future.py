"""A held attempt goes on at its instant, before whatever is ready by then."""

import asyncio

import pytest

from tickwell.engine.running.start_guard import ImmediateFuture


class Waiter:
    """A task that waits for its signal, and the order in which things happen."""

    def __init__(self):
        self.loop = asyncio.get_running_loop()
        self.signal = ImmediateFuture(loop=self.loop)
        self.order = []
        self.task = self.loop.create_task(self.wait())

    async def wait(self):
        await self.signal
        self.order.append("task")

    async def after(self, come):
        """Call back, with something else ready by then."""
        await asyncio.sleep(0)
        self.loop.call_soon(come)
        self.loop.call_soon(self.order.append, "ready")
        await self.task
        return self.order


async def test_it_continues_before_what_is_ready():
    waiter = Waiter()
    assert await waiter.after(lambda: waiter.signal.set_result(None)) == ["task", "ready"]


async def test_within_another_task_it_is_woken_as_usual():
    waiter = Waiter()
    await asyncio.sleep(0)
    waiter.signal.set_result(None)
    assert waiter.order == []
    await waiter.task
    assert waiter.order == ["task"]


async def test_who_has_not_begun_to_wait_goes_on_when_it_has():
    waiter = Waiter()
    waiter.signal.set_result(None)
    await waiter.task
    assert waiter.order == ["task"]


async def test_a_task_that_waits_is_cancelled_as_ever():
    waiter = Waiter()
    await asyncio.sleep(0)
    waiter.task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiter.task
    assert waiter.signal.cancelled()
