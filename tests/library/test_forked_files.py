"""A process that has a file open may be forked, and both may go on with the file."""

import asyncio
import os
import signal
import threading

import pytest

from tickwell.errors import StoreRefused, StoreUnavailable
from tickwell.ports.records import Record
from tickwell.stores.sqlite import SqliteStore, forking

#: Seconds after which a child that hangs ends.
DEADLINE = 100
BEGIN = """
    import asyncio, os, sys, threading
    from tickwell import Scheduler

    scheduler = Scheduler("sqlite:///jobs.db")

    @scheduler.job()
    async def noop() -> None: ...

    asyncio.run(scheduler.sync())
"""


def test_children_that_are_forked_amid_work_can_open_the_file(program):
    stdout, stderr, _ = program(
        BEGIN
        + """
    over = threading.Event()

    def write():
        while not over.is_set():
            scheduler.blocking.trigger("noop")

    scheduler.start_in_background()
    writing = threading.Thread(target=write)
    writing.start()
    for _ in range(20):
        child = os.fork()
        if not child:
            scheduler.after_fork()
            scheduler.blocking.trigger("noop")
            scheduler.blocking.stop()
            os._exit(0)
        print(os.waitpid(child, 0)[1])
    over.set()
    writing.join()
    scheduler.blocking.stop()
    """
    )
    assert (stdout, stderr) == ("0\n" * 20, "")


def test_a_child_writes_on_when_its_parent_has_closed_the_file(program):
    """A copy of the parent's locks would let the parent delete the log that the child writes to."""
    stdout, stderr, _ = program(
        BEGIN
        + """
    asked, gone = os.pipe(), os.pipe()
    scheduler.blocking.trigger("noop")
    child = os.fork()
    if not child:
        scheduler.after_fork()
        scheduler.blocking.trigger("noop")
        os.write(asked[1], b".")
        os.read(gone[0], 1)
        scheduler.blocking.trigger("noop")
        os._exit(0)  # without closing, as one that is killed
    os.read(asked[0], 1)
    scheduler.blocking.stop()
    os.write(gone[1], b".")
    os.waitpid(child, 0)
    print(len(scheduler.blocking.executions(job="noop")))
    scheduler.blocking.stop()
    """
    )
    assert (stdout, stderr) == ("3\n", "")


async def test_a_store_goes_on_after_a_fork(tmp_path):
    store = SqliteStore(tmp_path / "jobs.db")
    await store.open()
    forked = await asyncio.to_thread(_fork)
    assert forked == 0
    assert not any((await store.stats()).values())
    assert await store.ping() > 0
    await store.close()


async def test_a_child_is_told_to_open_a_store_of_its_parent_and_may(tmp_path):
    """The threads that would answer stayed behind."""
    store = SqliteStore(tmp_path / "jobs.db")
    await store.open()

    async def use():
        with pytest.raises(StoreUnavailable, match="is not open"):
            await store.stats()
        await store.open()
        await store.stats()
        await store.close()

    assert await asyncio.to_thread(_fork, lambda: asyncio.run(use())) == 0
    await store.close()


async def test_what_others_wrote_until_the_file_is_open_again_is_noticed(tmp_path):
    stores = [SqliteStore(tmp_path / "jobs.db") for _ in range(2)]
    for store in stores:
        await store.open()
    await asyncio.to_thread(_fork)
    await stores[1].put_record(Record(kind="kind", project="project", key="key", document={}), 0)
    assert await stores[0].changed(0.001)
    assert not await stores[0].changed(0.001)
    for store in stores:
        await store.close()


def test_a_signal_amid_a_fork_may_fork_as_well(program):
    stdout, stderr, _ = program(
        """
    import os, signal
    from tickwell.stores.sqlite.forking import AtWork

    def fork(*_):
        signal.signal(signal.SIGUSR1, signal.SIG_IGN)
        child = os.fork()
        if not child:
            os._exit(0)
        print(os.waitpid(child, 0)[1])

    signal.alarm(100)
    signal.signal(signal.SIGUSR1, fork)
    at_work = AtWork(lambda: signal.raise_signal(signal.SIGUSR1))
    child = os.fork()
    if not child:
        os._exit(0)
    print(os.waitpid(child, 0)[1])
    """
    )
    assert (stdout, stderr) == ("0\n0\n", "")


async def test_where_work_does_not_end_the_child_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(forking, "PATIENCE", 0.0)
    store = SqliteStore(tmp_path / "jobs.db")
    begun, over = threading.Event(), threading.Event()
    await store.open()

    def work(_):
        begun.set()
        over.wait()

    working = asyncio.create_task(store.reader.call(work))
    await asyncio.to_thread(begun.wait)
    forked = await asyncio.to_thread(_fork, _refused)
    over.set()
    await working
    assert forked == 0
    forking.FORKS.check()  # the parent may
    await store.close()


def _refused():
    with pytest.raises(StoreRefused, match="forked while its parent was at work"):
        forking.FORKS.check()
    forking.PATIENCE = 2 * DEADLINE
    assert _fork(_refused_too) == 0  # and waits for nobody


def _refused_too():
    with pytest.raises(StoreRefused):
        forking.FORKS.check()


def _fork(then=lambda: None):
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    code = 1
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.alarm(DEADLINE)
    try:
        then()
        code = 0
    finally:
        os._exit(code)
