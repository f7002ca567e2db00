"""Opening: several processes at once make one schema; a second store of ours finds it made."""

import asyncio

from tests.servers.postgres import server
from tickwell.clock import wall_millis
from tickwell.stores.postgres import PostgresStore
from tickwell.stores.postgres.migrate import STEPS


async def test_several_at_once_make_one_schema(owner):
    await owner.execute("DROP SCHEMA IF EXISTS fresh CASCADE")
    stores = [PostgresStore.from_url(f"{server().url}?schema=fresh") for _ in range(6)]
    await asyncio.gather(*(store.open() for store in stores))
    noted = dict(await owner.fetch("SELECT name, value FROM fresh.meta"))
    assert noted["schema"] == str(len(STEPS))
    await asyncio.gather(*(store.close() for store in stores))
    await owner.execute("DROP SCHEMA fresh CASCADE")


async def test_a_closed_store_opens_again(store):
    before = await store.ping()
    await store.close()
    await store.open()
    assert await store.ping() >= before


async def test_the_time_is_rounded_down(store):
    """Half a millisecond ahead, and what is due at an instant would start before it."""
    ahead = [await store.ping() - wall_millis() for _ in range(100)]
    assert max(ahead) <= 0


async def test_statements_and_locks_are_waited_for_only_so_long(store):
    async def work(session):
        names = ("statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout")
        return [await session.connection.fetchval(f"SHOW {name}") for name in names]

    assert await store.database.write_one(work) == ["30s", "10s", "30s"]
