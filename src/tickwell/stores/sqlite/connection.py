"""Connections to the file, set up alike."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from random import Random

from tickwell.errors import StoreRefused
from tickwell.stores.sqlite import file
from tickwell.stores.sqlite.forking import FORKS
from tickwell.stores.sqlite.migrate import migrate
from tickwell.stores.sqlite.writer import Patience

#: The first with RETURNING.
OLDEST = (3, 35, 0)
#: Kilobytes of page cache at most, for the indexes of a million jobs, and for a few lists.
WRITER_CACHE = 64 * 1024
READER_CACHE = 16 * 1024
#: Pages in the log before a commit writes them back: 16 MB, so that a hot page is written back
#: once for many commits.
CHECKPOINT = 4_000
#: Bytes that the log keeps on disk after a burst.
LOG_LIMIT = 64 * 1024 * 1024
#: Seconds that setting up waits for the lock: the last closer of a file holds it for a moment.
SET_UP = 10.0


def connect(path: Path, synchronous: str, cache: int = READER_CACHE) -> sqlite3.Connection:
    """A connection in autocommit mode: transactions are begun and ended explicitly.

    It is used by one thread, and may be closed by another, which forks.
    """
    connection = sqlite3.connect(
        path, timeout=0, isolation_level=None, cached_statements=256, check_same_thread=False
    )
    Patience(SET_UP, Random()).run(lambda: _set_up(connection, synchronous, cache))
    return connection


def _set_up(connection: sqlite3.Connection, synchronous: str, cache: int) -> None:
    for name, value in (
        ("synchronous", synchronous),
        ("cache_size", -cache),
        ("wal_autocheckpoint", CHECKPOINT),
        ("journal_size_limit", LOG_LIMIT),
        ("temp_store", "memory"),
        # Debian's build zeroes what is deleted, which costs a tenth of a claim.
        ("secure_delete", "off"),
    ):
        connection.execute(f"PRAGMA {name} = {value}")


def prepare(
    path: Path, synchronous: str, wait: float, *, shared: bool = False
) -> sqlite3.Connection:
    """The first connection: refuses what is not ours, and brings the schema up to date."""
    if sqlite3.sqlite_version_info < OLDEST:
        raise StoreRefused(
            f"{path} needs SQLite 3.35 or newer, this Python has {sqlite3.sqlite_version};"
            " use another Python"
        )
    FORKS.check()
    file.check(path)
    file.make(path)
    patience = Patience(wait, Random())
    connection = sqlite3.connect(path, timeout=0, isolation_level=None)
    try:
        patience.run(lambda: migrate(connection, path, patience, shared=shared))
        mode, _ = patience.run(
            lambda: connection.execute("PRAGMA journal_mode = wal").fetchone()[0]
        )
    finally:
        connection.close()
    if mode != "wal":
        raise StoreRefused(f"{path} cannot have a write-ahead log; put it on a local disk")
    return connect(path, synchronous, WRITER_CACHE)
