"""What somebody has set for the role or the database does not reach our transactions."""

import pytest

from tests.servers.postgres import server
from tests.servers.schemas import empty
from tickwell.domain.execution import State
from tickwell.domain.trigger import OnDemand
from tickwell.stores.postgres import PostgresStore
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene

ODD = {
    "default_transaction_isolation": "serializable",
    "search_path": "elsewhere",
    "plan_cache_mode": "force_custom_plan",
    "synchronous_commit": "off",
}
#: Milliseconds. Behind a pooler they hold until a transaction has begun.
TIMEOUTS = {"statement_timeout": "1", "idle_in_transaction_session_timeout": "1"}


@pytest.fixture(params=["none", "transaction"])
async def store(owner, request):
    await empty("stores")
    await owner.execute("CREATE ROLE odd SUPERUSER LOGIN PASSWORD 'odd'")
    odd = ODD if request.param == "transaction" else ODD | TIMEOUTS
    for name, value in odd.items():
        await owner.execute(f"ALTER ROLE odd SET {name} = '{value}'")
    url = server().url.replace("tickwell:secret@", "odd:odd@")
    store = PostgresStore.from_url(f"{url}?schema=stores&pooler={request.param}&pool=2")
    try:
        await store.open()
        yield store
        await store.close()
    finally:
        await owner.execute("REASSIGN OWNED BY odd TO tickwell; DROP ROLE odd")


async def test_work_goes_on_as_always(store):
    scene = Scene(store)
    fired, asked = await scene.job(), await scene.job(trigger=OnDemand())
    await scene.run(a_request(asked, T0))
    await scene.fire(minute(1))
    await scene.succeed(await scene.claim(minute(1)), minute(1))
    assert await scene.states(fired) == await scene.states(asked) == [State.SUCCEEDED]
    assert await store.prune(minute(1), 10) == 0


async def test_a_single_statement_sees_what_others_have_committed(store):
    async def work(session):
        return await session.connection.fetchval("SHOW transaction_isolation")

    assert await store.database.write_one(work) == "read committed"
    assert await store.database.write(work) == "read committed"
    assert await store.database.read(work) == "repeatable read"


@pytest.mark.parametrize("way", ["seqscan", "hashjoin", "mergejoin", "bitmapscan"])
async def test_only_a_count_leaves_its_plan_to_the_server(store, way):
    async def work(session):
        return await session.connection.fetchval(f"SHOW enable_{way}")

    database = store.database
    assert await database.survey(work) == "on"
    assert [await each(work) for each in (database.write, database.read)] == ["off", "off"]
    assert await database.read_one(work) == "off"


async def test_what_is_confirmed_is_written_although_the_server_would_not_wait(store):
    async def work(session):
        return await session.connection.fetchval("SHOW synchronous_commit")

    assert await store.database.write_one(work) == "local"
    assert await store.database.write(work) == "local"


@pytest.mark.parametrize("value", ["local", "on", "remote_apply"])
async def test_who_waits_for_more_goes_on_doing_so(store, owner, value):
    await owner.execute(f"ALTER ROLE odd SET synchronous_commit = '{value}'")
    await store.close()
    await store.open()

    async def work(session):
        return await session.connection.fetchval("SHOW synchronous_commit")

    assert await store.database.write(work) == value
