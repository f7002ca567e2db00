"""The SQLite store keeps the contract, with two connections to one file."""

import sqlite3

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


@pytest.fixture
def corrupt(path):
    def put(document, job):
        connection = sqlite3.connect(path, isolation_level=None)
        [(before,)] = connection.execute("SELECT document FROM job WHERE id = ?", (job.id,))
        connection.execute("UPDATE job SET document = ? WHERE id = ?", (document, job.id))
        connection.close()
        return before

    async def corrupt(job):
        before = put('{"from": "a newer version"}', job)

        async def mend():
            put(before, job)

        return mend

    return corrupt


class TestSqlite(StoreContract):
    pass
