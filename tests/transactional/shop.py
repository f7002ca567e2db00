"""A shop that writes orders into its own table, and asks for a run with each."""

import asyncio

from tickwell import Scheduler
from tickwell.ports.records import ExecutionFilter

TABLE = "CREATE TABLE IF NOT EXISTS {} (number bigint)"


class Shop(Scheduler):
    """A scheduler that remembers what was sent."""

    def __init__(self, store):
        super().__init__(store)
        self.sent: list[int] = []


def scheduler_on(store):
    scheduler = Shop(store)

    @scheduler.job()
    async def send_email(order: int) -> None:
        scheduler.sent.append(order)

    return scheduler


async def until(condition, seconds=5.0):
    """How long it took."""
    loop = asyncio.get_running_loop()
    begin = loop.time()
    while not condition():
        assert loop.time() - begin < seconds, "waited in vain"
        await asyncio.sleep(0.01)
    return loop.time() - begin


async def runs(scheduler):
    found = await scheduler.executions.list(ExecutionFilter(project="default"))
    return {one.id for one in found.items}
