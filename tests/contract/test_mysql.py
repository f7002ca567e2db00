"""The MySQL store keeps the contract, with two pools of connections to one set of tables."""

import pytest

from tests.servers.mariadb_tables import empty, run, url
from tickwell.stores.mysql import MysqlStore
from tickwell.testing.contract import StoreContract

PREFIX = "contract_"


@pytest.fixture
async def store():
    await empty(PREFIX)
    store = MysqlStore.from_url(url(PREFIX))
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def another_store(store):
    """A second process would come in by the same URL."""
    other = MysqlStore.from_url(url(PREFIX))
    await other.open()
    yield other
    await other.close()


@pytest.fixture
def corrupt():
    async def put(document, job):
        [(before,)] = await run(f"SELECT document FROM {PREFIX}job WHERE id = %s", job.id)
        await run(f"UPDATE {PREFIX}job SET document = %s WHERE id = %s", document, job.id)
        return before

    async def corrupt(job):
        before = await put('{"from": "a newer version"}', job)

        async def mend():
            await put(before, job)

        return mend

    return corrupt


class TestMysql(StoreContract):
    pass
