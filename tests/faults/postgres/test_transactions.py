"""A run asked for in the caller's transaction has the fate of that transaction, whatever it is."""

import asyncio

import asyncpg
import pytest

from tests.faults.postgres.caller import TABLE, order
from tests.processes.child import until
from tests.processes.jobs import job
from tickwell import Scheduler
from tickwell.clock import wall_millis
from tickwell.domain.trigger import OnDemand
from tickwell.errors import StoreUnavailable

#: What the server says last when it has ended a transaction.
ENDED = b"Z\x00\x00\x00\x05I"
ORDERS = 40
AWAY = (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, StoreUnavailable)


@pytest.fixture
def shop(site, processes, server):
    """A site with a worker that sends emails, and a table of orders."""
    now = wall_millis()
    site.add(job("email", "count", OnDemand(), now), fires={"email": []})
    server.ask(TABLE)
    processes.agent(site.orders())
    return site


def numbers(server):
    return server.ask("SELECT array_agg(number ORDER BY number) FROM faults.orders") or []


def judge(site, server, ids):
    """Each order has its run, which ran once, and there is no other."""
    site.requests = tuple(ids)
    site.wait_until_quiet()
    history = site.judge()
    assert sorted(row.id for row in history.rows) == sorted(ids)
    assert sorted(call.execution for call in history.calls) == sorted(ids)
    assert len(numbers(server)) == len(ids)


async def insist(scheduler, dsn, number):
    """Do what a caller does that does not know whether it was done: the same again."""
    for _ in range(20):
        try:
            return await order(scheduler, dsn, number)
        except AWAY:
            continue
    raise AssertionError(f"order {number} was never taken")


def test_a_commit_whose_answer_is_lost_is_found_by_its_key(shop, server, proxy):
    dsn = shop.way.partition("?")[0]
    count = 0

    def loses(data):
        nonlocal count
        count += data.endswith(ENDED)
        return data.endswith(ENDED) and count % 3 == 0

    async def all_orders():
        scheduler = Scheduler(shop.store)
        return [await insist(scheduler, dsn, number) for number in range(ORDERS)]

    proxy.down.loses = loses
    ids = asyncio.run(all_orders())
    assert proxy.down.lost > ORDERS // 3
    assert len(set(ids)) == ORDERS
    judge(shop, server, ids)


def test_a_transaction_that_is_cut_anywhere_is_whole_or_not_at_all(shop, server, proxy):
    dsn = shop.way.partition("?")[0]

    async def one(number, scheduler):
        # So many bytes of the caller's pass, and then the connection is lost.
        proxy.up.passing = 400 + 200 * number
        try:
            await order(scheduler, dsn, number)
        except AWAY:
            return False
        finally:
            proxy.up.passing = None
        return True

    async def all_orders():
        scheduler = Scheduler(shop.store)
        return [await one(number, scheduler) for number in range(ORDERS)]

    done = asyncio.run(all_orders())
    assert {True, False} == set(done)
    taken = numbers(server)
    assert {number for number, is_done in enumerate(done) if is_done} <= set(taken)
    recorded = shop.executions("email")
    judge(shop, server, [each.id for each in recorded])


@pytest.mark.parametrize("end", ["commit", "wait"])
def test_a_caller_that_is_killed(shop, processes, server, end):
    caller = processes.start("tests.faults.postgres.caller", shop.store, "1", end)
    id = caller.wait_for(end)["id"]
    caller.kill()
    # Its transaction ends with it, when the server notices.
    open_ones = "SELECT count(*) FROM pg_stat_activity WHERE state LIKE 'idle in transaction%'"
    until(lambda: server.ask(open_ones) == 0)
    judge(shop, server, [id] if end == "commit" else [])
    assert numbers(server) == ([1] if end == "commit" else [])
