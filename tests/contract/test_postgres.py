"""The PostgreSQL store keeps the contract, with two pools of connections to one schema."""

import pytest

from tests.servers.schemas import empty, run, url
from tickwell.stores.postgres import PostgresStore
from tickwell.testing.contract import StoreContract

SCHEMA = "contract"


@pytest.fixture
async def store():
    await empty(SCHEMA)
    store = PostgresStore.from_url(url(SCHEMA))
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def another_store(store):
    """A second process would come in by the same URL."""
    other = PostgresStore.from_url(url(SCHEMA))
    await other.open()
    yield other
    await other.close()


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
