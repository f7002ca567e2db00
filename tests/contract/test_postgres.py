"""The PostgreSQL store keeps the contract, with two pools of connections to one schema."""

import pytest
import pytest_asyncio

from tests.servers.schemas import empty, run, url
from tickwell.stores.postgres import PostgresStore
from tickwell.testing.contract import StoreContract

SCHEMA = "contract"


@pytest.fixture(scope="module")
def make_store():
    return lambda: PostgresStore.from_url(url(SCHEMA))


@pytest_asyncio.fixture(loop_scope="module")
async def store(pair):
    await empty(SCHEMA)
    return pair[0]


@pytest.fixture
def corrupt():
    async def put(document, job):
        place = f"{SCHEMA}.job WHERE id = '{job.id}'"
        [(before,)] = await run(f"SELECT document FROM {place}")
        await run(f"UPDATE {SCHEMA}.job SET document = $${document}$$ WHERE id = '{job.id}'")
        return before

    async def corrupt(job):
        before = await put('{"from": "a newer version"}', job)

        async def mend():
            await put(before, job)

        return mend

    return corrupt


class TestPostgres(StoreContract):
    pass
