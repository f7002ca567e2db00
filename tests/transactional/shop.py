"""A shop that writes orders into its own table, and asks for a run with each."""

import asyncio

from tickwell import Scheduler, Settings
from tickwell.declared.internals import internals
from tickwell.ports.records import ExecutionFilter

#: Whoever is not told of a commit sleeps on.
RARELY = Settings(poll="10m")
TABLE = "CREATE TABLE IF NOT EXISTS {} (number bigint)"


class Shop(Scheduler):
    """A scheduler that remembers what was sent."""

    def __init__(self, store):
        super().__init__(store, settings=RARELY)
        self.sent: list[int] = []


def scheduler_on(store):
    scheduler = Shop(store)

    @scheduler.job()
    async def send_email(order: int) -> None:
        scheduler.sent.append(order)

    return scheduler


async def until(condition):
    """Long before anybody looks unless told to."""
    async with asyncio.timeout(100):
        while not condition():  # noqa: ASYNC110 - the condition tells nobody
            await asyncio.sleep(0.01)


async def runs(scheduler):
    found = await internals(scheduler).executions.list(ExecutionFilter(project="default"))
    return {one.id for one in found.items}
