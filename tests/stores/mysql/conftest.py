"""Tables of their own for the tests of one folder, emptied before each."""

import pytest

from tests.servers.mariadb_tables import empty, url
from tickwell.stores.mysql import MysqlStore
from tickwell.testing.contract.scene import Scene

PREFIX = "stores_"


@pytest.fixture
def place():
    """The URL of the tables."""
    return url(PREFIX)


@pytest.fixture
async def store(place):
    await empty(PREFIX)
    store = MysqlStore.from_url(place)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def other(store, place):
    other = MysqlStore.from_url(place)
    await other.open()
    yield other
    await other.close()


@pytest.fixture
def scene(store):
    return Scene(store)


@pytest.fixture
def scenes(store, other):
    return Scene(store), Scene(other)
