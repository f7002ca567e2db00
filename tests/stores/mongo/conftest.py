"""A database of their own for the tests of one folder, emptied before each."""

import pytest

from tests.servers.mongo import empty, server
from tickwell.stores.mongo import MongoStore
from tickwell.testing.contract.scene import Scene


@pytest.fixture
def place():
    """The URL of the database; nobody waits for disks here."""
    return server().url("stores", journal="false")


@pytest.fixture
async def store(place):
    empty(place)
    store = MongoStore.from_url(place)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def other(store, place):
    """A second process, which takes everything unfinished to be left behind."""
    other = MongoStore.from_url(place)
    other.sweeper.patience = 0.0
    await other.open()
    yield other
    await other.close()


@pytest.fixture
def scene(store):
    return Scene(store)


@pytest.fixture
def owner(place):
    """The database itself, past the store."""
    with server().client() as client:
        yield client["stores"]
