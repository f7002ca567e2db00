"""A transaction with a run in it meets others: none is held up but by what it must wait for."""

import asyncio
from dataclasses import replace

import pytest

from tests.servers.schemas import somebody_waits
from tests.transactional.postgres.connections import (
    Connections,
)
from tests.transactional.shop import runs, until
from tickwell.declared.internals import internals
from tickwell.errors import NotFound


async def test_two_transactions_with_one_key_are_one_run(quiet):
    async def second():
        async with Connections.asyncpg() as (connection, _):
            return await quiet.transactions.trigger_async(connection, "send_email", key="same")

    async with Connections.asyncpg() as (connection, _):
        first = await quiet.transactions.trigger_async(connection, "send_email", key="same")
        task = asyncio.create_task(second())
        await somebody_waits()
        assert not task.done()
    assert await task == first
    assert await runs(quiet) == {first}


async def test_an_open_transaction_holds_nobody_up(scheduler):
    async with Connections.asyncpg() as (connection, _):
        await scheduler.transactions.trigger_async(connection, "send_email", {"order": 2})
        await scheduler.trigger("send_email", {"order": 1})
        await until(lambda: scheduler.sent == [1])
        async with Connections.asyncpg() as (other, _):
            await scheduler.transactions.trigger_async(other, "send_email", {"order": 3})
        await until(lambda: scheduler.sent == [1, 3])
    await until(lambda: scheduler.sent == [1, 3, 2])


async def test_a_deletion_meets_what_commits_before_it(quiet):
    async with Connections.asyncpg() as (connection, _):
        id = await quiet.transactions.trigger_async(connection, "send_email")
        deletion = asyncio.create_task(internals(quiet).jobs.delete("default", ["send_email"]))
        await somebody_waits()
        assert not deletion.done()
    await deletion
    assert (await quiet.get_execution(id)).state == "cancelled"
    async with Connections.asyncpg() as (connection, _):
        with pytest.raises(NotFound):
            await quiet.transactions.trigger_async(connection, "send_email")


async def test_an_edit_meets_it_as_well(quiet):
    job = (await internals(quiet).jobs.get("default", "send_email")).job
    async with Connections.asyncpg() as (connection, _):
        id = await quiet.transactions.trigger_async(connection, "send_email")
        edited = replace(job, queue="slow")
        edit = asyncio.create_task(
            internals(quiet).jobs.edit("default", job.id, edited, job.version)
        )
        await somebody_waits()
    await edit
    assert (await quiet.get_execution(id)).queue == "slow"
