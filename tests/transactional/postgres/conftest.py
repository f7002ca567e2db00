"""Schedulers on the schema of these tests."""

import pytest

from tests.servers.schemas import empty, run, url
from tests.transactional.postgres.connections import ORDERS, SCHEMA
from tests.transactional.shop import TABLE, scheduler_on
from tickwell import Scheduler
from tickwell.domain.target import Call


@pytest.fixture
async def scheduler():
    await empty(SCHEMA)
    scheduler = scheduler_on(url(SCHEMA))
    async with scheduler:
        await run(TABLE.format(ORDERS))
        yield scheduler


@pytest.fixture
async def quiet():
    """Nothing runs, so that everything stays where it is put."""
    await empty(SCHEMA)
    scheduler = Scheduler(url(SCHEMA))
    await scheduler.open()
    await scheduler.add_job("send_email", None, Call("send_email"))
    yield scheduler
    await scheduler.stop()
