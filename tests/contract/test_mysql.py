"""The MySQL store keeps the contract, with two pools of connections to one set of tables."""

import pytest
import pytest_asyncio

from tests.servers.mariadb_tables import empty, run, url
from tickwell.stores.mysql import MysqlStore
from tickwell.testing.contract import StoreContract

PREFIX = "contract_"


@pytest.fixture(scope="module")
def make_store():
    return lambda: MysqlStore.from_url(url(PREFIX))


@pytest_asyncio.fixture(loop_scope="module")
async def store(pair):
    await empty(PREFIX)
    return pair[0]


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
