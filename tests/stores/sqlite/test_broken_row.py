"""A row that somebody else has spoilt."""

import sqlite3
from contextlib import closing

import pytest

from tickwell.errors import StoreCorrupt
from tickwell.ports.records import Record
from tickwell.stores.sqlite import SqliteStore
from tickwell.testing.contract.builders import T0, a_job, a_request
from tickwell.testing.contract.scene import Scene


async def test_a_row_that_cannot_be_read_is_told_and_holds_nobody_up(path):
    store = SqliteStore(path)
    await store.open()
    scene, job = Scene(store), a_job()
    await scene.add(job)
    await scene.run(a_request(job, T0, payload={"n": 1}))
    connection = sqlite3.connect(path)
    with connection:
        connection.execute("UPDATE execution SET payload = '{\"n\": '")
    connection.close()
    with pytest.raises(StoreCorrupt, match="holds a value that is not JSON"):
        await scene.claim(T0)
    await store.put_record(Record(kind="note", project="default", key="a", document=1), T0)
    await store.close()


async def test_a_job_that_is_torn_away_is_told_and_holds_nobody_up(path):
    """A claim looked for what comes after it for ever, with the lock of the file."""
    store, other = SqliteStore(path), SqliteStore(path)
    await store.open()
    scene, job = Scene(store), a_job()
    await scene.add(job)
    await scene.run(a_request(job, T0))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("DELETE FROM job")
    await other.open()
    await Scene(other).beat("w1")
    assert await Scene(other).claim(T0, "w1") == []
    (told,) = (await other.next_wakeup(T0)).unreadable
    assert (told.job, "its definition is gone" in told.why) == (job.id, True)
    for one in (store, other):
        await one.close()
