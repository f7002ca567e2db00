"""The SQLite store keeps the contract, with two connections to one file."""

import pytest

from tickwell.stores.sqlite import SqliteStore
from tickwell.testing.contract import StoreContract


@pytest.fixture
def path(tmp_path):
    return tmp_path / "tickwell.db"


@pytest.fixture
async def store(path):
    store = SqliteStore(path)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def another_store(store, path):
    """A second process would come in by the same file."""
    other = SqliteStore(path)
    await other.open()
    yield other
    await other.close()


class TestSqlite(StoreContract):
    pass
