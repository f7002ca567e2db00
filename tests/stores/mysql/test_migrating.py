"""A newer version changes the tables: it takes its time, and who starts meanwhile waits."""

import asyncio

import pytest

from tests.servers.mariadb_tables import drop, run, url
from tests.stores.mysql.test_trouble import locked
from tickwell.errors import StoreUnavailable
from tickwell.stores.mysql import MysqlStore, database, migrate

#: A large table, which takes its time.
SLOW = "-- serves: 1\nSELECT SLEEP(3.5);\n"
WIDER = "-- serves: 1\nALTER TABLE `tickwell_worker` ADD COLUMN IF NOT EXISTS newer integer;\n"
STANDING = "SELECT 1 FROM information_schema.processlist WHERE state LIKE 'Waiting for table meta%'"


@pytest.fixture
async def place():
    await drop("upgraded_")
    store = MysqlStore.from_url(url("upgraded_"))
    await store.open()
    await store.close()
    yield url("upgraded_")
    await drop("upgraded_")


@pytest.fixture
def newer(tmp_path, monkeypatch):
    """Have another step in the code."""

    def add(text):
        path = tmp_path / "9999_newer.sql"
        path.write_text(text)
        monkeypatch.setattr(migrate, "STEPS", [*migrate.STEPS, path])

    return add


async def noted():
    return dict(await run("SELECT name, value FROM upgraded_meta"))["schema"]


async def test_a_step_takes_its_time_and_who_starts_meanwhile_waits(place, newer):
    newer(SLOW)
    stores = [MysqlStore.from_url(f"{place}&statement_timeout=3") for _ in range(2)]
    await asyncio.gather(*(store.open() for store in stores))
    assert await noted() == str(len(migrate.STEPS))
    with pytest.raises(StoreUnavailable, match="longer than the statement timeout"):
        await stores[0].database.write_one(lambda session: session.query("SELECT SLEEP(60)"))
    await asyncio.gather(*(store.close() for store in stores))


async def test_tables_are_tried_without_the_statement_timeout(place):
    store = MysqlStore.from_url(f"{place}&statement_timeout=3")
    async with locked("LOCK TABLES upgraded_worker WRITE"), asyncio.timeout(100):
        opening = asyncio.create_task(store.open())
        while not (opening.done() or await run(f"{STANDING} AND time_ms > 3500")):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.01)
    await opening
    with pytest.raises(StoreUnavailable, match="longer than the statement timeout"):
        await store.database.write_one(lambda session: session.query("SELECT SLEEP(60)"))
    await store.close()


async def test_a_step_waits_no_longer_for_a_table_than_anybody(place, newer, monkeypatch):
    newer(WIDER)
    monkeypatch.setattr(database, "TRIES", 2)
    store = MysqlStore.from_url(f"{place}&lock_timeout=1")
    async with locked("START TRANSACTION; SELECT * FROM upgraded_worker"):
        with pytest.raises(StoreUnavailable):
            await store.open()
    assert await noted() == str(len(migrate.STEPS) - 1)
    await store.open()
    assert await noted() == str(len(migrate.STEPS))
    await store.close()


async def test_who_is_cancelled_during_a_step_is_cancelled(place, newer):
    newer(WIDER)
    store = MysqlStore.from_url(place)
    async with locked("START TRANSACTION; SELECT * FROM upgraded_worker"):
        opening = asyncio.create_task(store.open())
        async with asyncio.timeout(100):
            while not await run(STANDING):  # noqa: ASYNC110 - the server tells nobody
                await asyncio.sleep(0.01)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await opening
    await store.open()
    assert await noted() == str(len(migrate.STEPS))
    await store.close()
