"""A newer version changes the schema while an older one goes on, or is cut off in the midst."""

import asyncio

import asyncpg
import pytest

from tests.servers.postgres import server
from tickwell.domain.execution import State
from tickwell.domain.trigger import OnDemand
from tickwell.errors import StoreUnavailable
from tickwell.stores.postgres import PostgresStore, database, migrate
from tickwell.testing.contract.builders import T0, a_request
from tickwell.testing.contract.scene import Scene

NEWER = """-- serves: 1
ALTER TABLE tickwell.cursor ADD COLUMN newer integer NOT NULL DEFAULT 7;
ALTER TABLE tickwell.running ADD COLUMN newer text;
"""
#: A large table, which takes its time.
SLOW = "-- serves: 1\nSELECT pg_sleep(2.5);\n"


@pytest.fixture
async def url(owner):
    await owner.execute("DROP SCHEMA IF EXISTS upgraded CASCADE")
    yield f"{server().url}?schema=upgraded"
    await owner.execute("DROP SCHEMA IF EXISTS upgraded CASCADE")


@pytest.fixture
def newer(tmp_path):
    """The steps that a newer version knows."""
    path = tmp_path / "9999_newer.sql"
    path.write_text(NEWER)
    return [*migrate.STEPS, path]


async def noted(owner):
    return dict(await owner.fetch("SELECT name, value FROM upgraded.meta"))


async def test_an_older_version_works_on_while_a_newer_one_migrates(url, owner, newer, monkeypatch):
    older = PostgresStore.from_url(url)
    await older.open()
    scene = Scene(older)
    job = await scene.job(trigger=OnDemand())
    await scene.run(a_request(job, T0), a_request(job, T0))
    [first, second] = await scene.claim(T0)
    await scene.succeed(first, T0)
    with monkeypatch.context() as patches:
        patches.setattr(migrate, "STEPS", newer)
        stores = [PostgresStore.from_url(url) for _ in range(4)]
        await asyncio.gather(*(store.open() for store in stores))
        await Scene(stores[0]).run(a_request(job, T0))
        await asyncio.gather(*(store.close() for store in stores))
    await scene.succeed(second, T0)
    await scene.succeed(await scene.claim(T0), T0)
    assert await scene.states() == [State.SUCCEEDED] * 3
    assert (await noted(owner))["schema"] == str(len(newer))
    await older.close()
    await older.open()
    assert (await noted(owner))["schema"] == str(len(newer))
    await older.close()


async def test_a_migration_that_is_cut_off_leaves_nothing(url, owner, monkeypatch):
    async def cut(session, _):
        pid = session.connection.get_server_pid()
        await owner.execute("SELECT pg_terminate_backend($1)", pid)
        while True:
            await session.connection.fetchval("SELECT 1")

    store = PostgresStore.from_url(url)
    with monkeypatch.context() as patches:
        patches.setattr(migrate, "_note", cut)
        with pytest.raises(StoreUnavailable):
            await store.open()
    with pytest.raises(asyncpg.UndefinedTableError):
        await noted(owner)
    await store.open()
    assert (await noted(owner))["schema"] == str(len(migrate.STEPS))
    await store.close()


async def test_a_step_takes_its_time_and_who_starts_meanwhile_waits(
    url, owner, tmp_path, monkeypatch
):
    path = tmp_path / "9999_slow.sql"
    path.write_text(SLOW)
    monkeypatch.setattr(migrate, "STEPS", [*migrate.STEPS, path])
    monkeypatch.setattr(database, "GRACE", 0.0)
    short = f"{url}&statement_timeout=2&lock_timeout=1"
    stores = [PostgresStore.from_url(short) for _ in range(2)]
    await asyncio.gather(*(store.open() for store in stores))
    assert (await noted(owner))["schema"] == str(len(migrate.STEPS))
    for store in stores:
        timeouts = await store.database.write_one(
            lambda session: session.connection.fetchrow(
                "SELECT current_setting('statement_timeout'), current_setting('lock_timeout')"
            )
        )
        assert tuple(timeouts) == ("2s", "1s")
        await store.close()
