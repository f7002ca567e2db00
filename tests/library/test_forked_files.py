"""A process that has a file open may be forked, and both may go on with the file."""

import asyncio
import os
import threading

import pytest

from tickwell.errors import StoreRefused
from tickwell.stores.sqlite import SqliteStore, forking

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
            scheduler.move_to("sqlite:///jobs.db")
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
        scheduler.move_to("sqlite:///jobs.db")
        scheduler.blocking.trigger("noop")
        os.write(asked[1], b".")
        os.read(gone[0], 1)
        scheduler.blocking.trigger("noop")
        os._exit(0)  # without closing, as one that is killed
    os.read(asked[0], 1)
    scheduler.blocking.stop()
    os.write(gone[1], b".")
    os.waitpid(child, 0)
    print(len(scheduler.blocking.history("noop")))
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


def _fork(then=lambda: None):
    child = os.fork()
    if child:
        return os.waitpid(child, 0)[1]
    code = 1
    try:
        then()
        code = 0
    finally:
        os._exit(code)
