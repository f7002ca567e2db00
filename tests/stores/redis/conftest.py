"""A prefix of their own for the tests of one file, emptied before each."""

import pytest

from tests.servers.redis_keys import client, empty, url
from tickwell.stores.redis import RedisStore
from tickwell.testing.contract.scene import Scene

PREFIX = "stores"


@pytest.fixture
def place():
    """The URL of the prefix."""
    return url(PREFIX)


@pytest.fixture
async def store(place):
    empty(PREFIX)
    store = RedisStore.from_url(place)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def other(store, place):
    other = RedisStore.from_url(place)
    await other.open()
    yield other
    await other.close()


@pytest.fixture
def scene(store):
    return Scene(store)


@pytest.fixture
def keys():
    """A connection beside the store's."""
    with client() as connection:
        yield connection
