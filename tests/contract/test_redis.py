"""The Redis store keeps the contract, with two pools of connections to one prefix."""

import pytest

from tests.servers.redis_keys import client, empty, url
from tickwell.stores.redis import RedisStore
from tickwell.testing.contract import StoreContract

PREFIX = "contract"


@pytest.fixture
async def store():
    empty(PREFIX)
    store = RedisStore.from_url(url(PREFIX))
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def another_store(store):
    """A second process would come in by the same URL."""
    other = RedisStore.from_url(url(PREFIX))
    await other.open()
    yield other
    await other.close()


@pytest.fixture
def corrupt():
    key = f"{{{PREFIX}}}:job"

    async def corrupt(job):
        with client() as connection:
            before = connection.hget(key, job.id)
            connection.hset(key, job.id, '{"from": "a newer version"}')

        async def mend():
            with client() as connection:
                connection.hset(key, job.id, before)

        return mend

    return corrupt


class TestRedis(StoreContract):
    pass
