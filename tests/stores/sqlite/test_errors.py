"""What goes wrong with files is said in our words, and nothing is half-written."""

import asyncio
import os
import sqlite3
import subprocess
import tempfile
from pathlib import Path
from threading import Event

import pytest

from tickwell.errors import (
    SchemaTooNew,
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreRefused,
    StoreUnavailable,
)
from tickwell.ports.records import Record
from tickwell.stores.sqlite import SqliteStore

NOBODY = 65534


def note(key="a", document=1):
    return Record(kind="note", project="default", key=key, document=document)


async def refusal(path, error=StoreRefused):
    """The error that opening raises; it names the file and keeps its cause, if there is one."""
    with pytest.raises(error) as caught:
        await SqliteStore(path, wait=0.01).open()
    assert str(path) in str(caught.value)
    return str(caught.value)


async def test_a_folder_is_refused(tmp_path):
    assert "name a file in it" in await refusal(tmp_path)


async def test_a_missing_folder_is_refused(tmp_path):
    assert "create it" in await refusal(tmp_path / "missing" / "tickwell.db")
    assert list(tmp_path.iterdir()) == []


async def test_a_file_that_is_no_database_is_refused_and_left_alone(path):
    path.write_text("notes " * 1000)
    assert "is not a Tickwell database" in await refusal(path)
    assert path.read_text() == "notes " * 1000


@pytest.mark.parametrize("mode", ["delete", "wal"])
async def test_a_foreign_database_is_refused_and_left_alone(path, mode):
    connection = sqlite3.connect(path)
    connection.execute(f"PRAGMA journal_mode = {mode}")
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    before = path.read_bytes()
    assert "is not a Tickwell database" in await refusal(path)
    assert path.read_bytes() == before
    assert list(path.parent.iterdir()) == [path]


async def test_a_foreign_database_may_be_shared(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (x)")
    connection.execute("INSERT INTO mine VALUES (1)")
    connection.commit()
    for store in (SqliteStore(path, shared=True), SqliteStore(path)):  # then it is ours as well
        await store.open()
        await store.put_record(note(), 0)
        await store.close()
    assert connection.execute("SELECT x FROM mine").fetchall() == [(1,)]
    connection.close()


async def test_a_shared_database_that_has_our_names_is_refused_and_left_alone(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE job (x)")
    connection.execute("CREATE VIEW queue AS SELECT * FROM job")
    connection.close()
    before = path.read_bytes()
    with pytest.raises(StoreRefused, match="that has job, queue in it, names that Tickwell needs"):
        await SqliteStore(path, shared=True, wait=0.01).open()
    assert path.read_bytes() == before


async def test_a_foreign_database_in_the_making_is_refused(path):
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("CREATE TABLE mine (x)")
    connection.close()
    path.with_name(path.name + "-journal").touch()
    assert "is not a Tickwell database" in await refusal(path)


async def test_an_empty_file_becomes_a_database(path):
    path.touch()
    store = SqliteStore(path)
    await store.open()
    await store.close()
    assert path.stat().st_size > 0


async def test_a_newer_schema_is_refused_and_left_alone(path, store):
    await store.close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 999")
    connection.close()
    assert "upgrade Tickwell" in await refusal(path, SchemaTooNew)
    await store.close()


@pytest.fixture
def open_folder():
    """A folder that every user can reach, unlike pytest's own."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        yield Path(folder)


@pytest.fixture
def as_nobody():
    """Root may write everything, so it becomes somebody else for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    yield
    os.seteuid(0)


async def test_a_folder_that_cannot_be_written_is_refused(open_folder, as_nobody):
    if os.geteuid() != NOBODY:
        open_folder.chmod(0o555)
    assert "change its rights" in await refusal(open_folder / "tickwell.db")
    open_folder.chmod(0o755) if os.geteuid() != NOBODY else None


async def test_a_file_that_cannot_be_written_is_refused(open_folder):
    path = open_folder / "tickwell.db"
    store = SqliteStore(path)
    await store.open()
    await store.close()
    path.chmod(0o444)
    open_folder.chmod(0o777)
    root = os.geteuid() == 0
    if root:
        os.seteuid(NOBODY)
    try:
        assert "change its rights" in await refusal(path)
    finally:
        if root:
            os.seteuid(0)


async def test_a_lock_that_is_never_given_up_is_said(path, store):
    impatient = SqliteStore(path, wait=0.01)
    await impatient.open()
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="locked by another process") as caught:
        await impatient.put_record(note(), 0)
    assert isinstance(caught.value.__cause__, sqlite3.OperationalError)
    # Readers need no lock.
    assert await impatient.get_record("note", "default", "a", 0) is None
    other.execute("ROLLBACK")
    other.close()
    assert await impatient.put_record(note(), 0)
    await impatient.close()


async def damage(path, first_page):
    """A file with notes in its last pages, overwritten from a page on."""
    store = SqliteStore(path)
    await store.open()
    pages = await store.reader.call(
        lambda session: session.connection.execute("PRAGMA page_count").fetchone()[0]
    )
    for number in range(100):
        await store.put_record(note(f"key-{number:03}", "x" * 500), 0)
    await store.close()
    first = first_page or pages
    with path.open("r+b") as file:
        file.seek(first * 4096)
        file.write(b"\xff" * (path.stat().st_size - first * 4096))


async def test_damaged_data_are_said(path):
    await damage(path, None)
    store = SqliteStore(path)
    await store.open()
    with pytest.raises(StoreCorrupt, match="restore a backup"):
        await store.list_records("note", "default", "", 0)
    await store.close()


async def test_a_damaged_schema_is_said(path):
    await damage(path, 1)
    assert "restore a backup" in await refusal(path, StoreCorrupt)


async def fill(store, document="x" * 20_000):
    """Write until there is no more room; the keys that were acknowledged."""
    written: list[str] = []

    async def write():
        for number in range(10_000):
            await store.put_record(note(f"{number:05}", document), 0)
            written.append(f"{number:05}")

    with pytest.raises(StoreFull, match="free some"):
        await write()
    return written


async def keys(store):
    return [record.key for record in await store.list_records("note", "default", "", 0, 10_000)]


async def test_a_full_file_is_said_and_goes_on_by_itself_once_there_is_room(store):
    def limit(pages):
        return lambda session: session.connection.execute(f"PRAGMA max_page_count = {pages}")

    await store.writer.call(lambda session: limit(200)(session).fetchall())
    written = await fill(store)
    assert await keys(store) == written
    await store.writer.call(lambda session: limit(100_000)(session).fetchall())
    assert await store.put_record(note("more", "x" * 20_000), 0)
    assert await keys(store) == [*written, "more"]


@pytest.fixture
def small_disk(tmp_path):
    """2 MB, which only root can mount."""
    command = ["mount", "-t", "tmpfs", "-o", "size=2m", "tmpfs", str(tmp_path)]
    if os.geteuid() != 0 or subprocess.run(command, check=False).returncode:
        pytest.fail("a disk of 2 MB cannot be mounted; run the tests as root, outside a container")
    yield tmp_path
    # Lazily: a failed test leaves its store open.
    subprocess.run(["umount", "--lazy", str(tmp_path)], check=True)


async def test_a_full_disk_is_said_and_goes_on_by_itself_once_there_is_room(small_disk):
    ballast = small_disk / "ballast"
    ballast.write_bytes(b"\0" * 500_000)
    path = small_disk / "tickwell.db"
    store = SqliteStore(path)
    await store.open()
    written = await fill(store)
    assert await keys(store) == written
    ballast.unlink()
    assert await store.put_record(note("more", "x" * 20_000), 0)
    assert await keys(store) == [*written, "more"]
    await store.close()
    connection = sqlite3.connect(path)
    assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    connection.close()


async def test_a_disk_full_of_log_is_written_back(small_disk):
    """Few pages written often fill the disk with their old images; that is no reason to stop."""
    store = SqliteStore(small_disk / "tickwell.db")
    await store.open()
    await fill_again(store, 3)
    await store.close()  # what is written back needs no more room later
    await store.open()
    await fill_again(store, 300)
    (record,) = await store.list_records("note", "default", "same", 0)
    assert record.document == "299" * 5_000
    await store.close()


async def fill_again(store, times):
    for number in range(times):
        assert await store.put_record(note("same", f"{number:03}" * 5_000), 0)


async def test_a_store_that_is_not_open_says_so(path):
    with pytest.raises(StoreUnavailable, match="not open"):
        await SqliteStore(path).ping()


def nonsense(session):
    session.connection.execute("SELECT nonsense FROM nowhere")


async def together(store, *calls):
    """The results of calls that the writing thread finds waiting all at once."""
    busy, free = Event(), Event()

    def hold(session):
        busy.set()
        free.wait()

    holding = asyncio.create_task(store.writer.call(hold))
    await asyncio.to_thread(busy.wait)
    waiting = [asyncio.ensure_future(call) for call in calls]
    await asyncio.sleep(0)
    free.set()
    await holding
    return await asyncio.gather(*waiting, return_exceptions=True)


async def test_one_bad_call_among_many_fails_alone(store):
    puts = [store.put_record(note(key), 0) for key in "ab"]
    results = await together(store, puts[0], store.writer.call(nonsense), puts[1])
    assert [type(result) for result in results] == [bool, StoreError, bool]
    assert await keys(store) == ["a", "b"]


async def test_a_call_that_is_done_again_forgets_what_went_wrong_before(store):
    runs = []

    def fails_once(session):
        runs.append(session)
        if len(runs) == 1:
            raise ValueError("only the first time")
        return "done"

    calls = store.writer.call(fails_once), store.writer.call(nonsense)
    done, error = await together(store, *calls)
    assert done == "done"
    assert type(error) is StoreError


async def test_a_call_that_raises_undoes_its_own_writes_only(store):
    def raises(session):
        session.execute("replace_record", "note", "default", "undone", "1", 1, None)
        raise ValueError("mine")

    puts = [store.put_record(note(key), 0) for key in "ab"]
    results = await together(store, puts[0], store.writer.call(raises), puts[1])
    assert [type(result) for result in results] == [bool, ValueError, bool]
    assert await keys(store) == ["a", "b"]


async def test_calls_that_are_waiting_end_before_the_store_closes(path):
    store = SqliteStore(path)
    await store.open()
    waiting = [asyncio.create_task(store.put_record(note(f"{n:03}"), 0)) for n in range(100)]
    await asyncio.sleep(0)
    await store.close()
    assert all(await asyncio.gather(*waiting))
