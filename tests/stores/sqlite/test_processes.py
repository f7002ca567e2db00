"""Several processes on one file."""

import sqlite3

from tickwell.ports.records import Record
from tickwell.stores.sqlite import SqliteStore


def integrity(path):
    connection = sqlite3.connect(path)
    try:
        return connection.execute("PRAGMA integrity_check").fetchall()
    finally:
        connection.close()


async def records(path, kind):
    store = SqliteStore(path)
    await store.open()
    try:
        found = await store.list_records(kind, "default", "", 0)
        return {record.key: record.document for record in found}
    finally:
        await store.close()


async def test_processes_that_open_a_new_file_at_once_make_one_schema(path, children):
    names = ["a", "b", "c", "d"]
    started = children("open", *names)
    for child in started:
        assert child.hear() == "ready"
    for child in started:
        child.say()
    assert [child.hear() for child in started] == ["opened"] * 4
    assert set(await records(path, "opened")) == set(names)
    assert integrity(path) == [("ok",)]


async def test_no_contending_process_starves(path, store, children):
    started = children("write", "a", "b", "c", "d")
    for child in started:
        assert child.hear() == "ready"
    for child in started:
        child.say()
    counts: list[int] = []
    while len(counts) < 4 or min(counts) < 100:
        await store.changed(1)
        found = await store.list_records("count", "default", "", 0)
        counts = [record.document for record in found]
    said = [child.end() for child in started]
    # What was acknowledged is there.
    assert await records(path, "count") == {
        name: int(words[-1]) for name, words in zip("abcd", said, strict=True)
    }


async def test_a_process_killed_inside_a_transaction_leaves_nothing_of_it(path, store, children):
    (child,) = children("inside", "a")
    assert child.hear() == "inside"
    child.kill()
    assert await store.get_record("half", "default", "a", 0) is None
    note = Record(kind="note", project="default", key="after", document=1)
    assert await store.put_record(note, 0)
    await store.close()
    assert integrity(path) == [("ok",)]
    await store.open()


async def test_processes_killed_between_writes_lose_nothing_acknowledged(path, children):
    for round_ in range(3):
        (child,) = children("write", f"round-{round_}")
        assert child.hear() == "ready"
        child.say()
        acknowledged = [child.hear() for _ in range(20)]
        acknowledged += child.kill()
        # A word may be cut off by the kill, and the last write may be there unacknowledged.
        last = max(int(word) for word in acknowledged[:20])
        assert (await records(path, "count"))[f"round-{round_}"] >= last
        assert integrity(path) == [("ok",)]


async def test_the_notifier_sees_what_another_process_wrote(store, children):
    (child,) = children("write", "a")
    assert child.hear() == "ready"
    while await store.changed(0.001):
        pass  # that the other process opened the file
    child.say()
    child.hear()
    assert await store.changed(60)


async def test_the_notifier_does_not_see_its_own_writes(store):
    await store.put_record(Record(kind="note", project="default", key="a", document=1), 0)
    assert not await store.changed(0.001)


async def test_the_notifier_ends_its_wait_when_the_store_is_closed(path):
    store = SqliteStore(path)
    await store.open()
    await store.close()
    assert not await store.changed(60)
