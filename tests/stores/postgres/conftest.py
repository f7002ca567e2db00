"""A schema of their own for the tests of one file, emptied before each."""

import asyncpg
import pytest

from tests.servers.postgres import server
from tests.servers.schemas import empty, url
from tickwell.stores.postgres import PostgresStore
from tickwell.testing.contract.scene import Scene


@pytest.fixture
def place():
    """The URL of the schema."""
    return url("stores")


@pytest.fixture
async def store(place):
    await empty("stores")
    store = PostgresStore.from_url(place)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def scene(store):
    return Scene(store)


@pytest.fixture
async def owner():
    """A connection of the database's owner."""
    connection = await asyncpg.connect(server().url)
    yield connection
    await connection.close()
