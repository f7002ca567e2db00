"""Runs requested on the caller's connection to the same file.

The caller holds the file's write lock until its transaction ends, as every writer of SQLite does,
so the gates can be met at once, exactly as in a transaction of our own.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tickwell.domain.job import JobState
from tickwell.errors import InvalidInput, NotFound, StoreRefused
from tickwell.ports.transactional import Maker
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.catalog import entry_rows
from tickwell.stores.sql.flow.adding import Adding
from tickwell.stores.sql.rows.codec import from_json
from tickwell.stores.sql.rows.entries import entry_of
from tickwell.stores.sql.sqlalchemy_connection import driver_of
from tickwell.stores.sqlite.file import APPLICATION_ID
from tickwell.stores.sqlite.session import Session, drive


class SqliteTransactions:
    """Records runs on the caller's connection, as `ports.transactional` has it."""

    def __init__(self, cache: JobCache, path: Path, wall: Callable[[], int]) -> None:
        self.cache = cache
        self._path = path
        self._wall = wall

    def add_on(self, connection: Any, project: str, job_key: str, make: Maker) -> str:
        driver = driver_of(connection)
        if not isinstance(driver, sqlite3.Connection):
            raise InvalidInput(
                f"{type(driver).__module__}.{type(driver).__name__} is not a sqlite3 connection",
                field="connection",
                hint="Pass one of sqlite3, or of SQLAlchemy on it",
            )
        with _plainly(driver):
            _check_path(driver, self._path)
            with _within(driver):
                _take_lock(driver, self._path)
                return drive(self._add(Session(driver), project, job_key, make))

    async def add_on_async(self, connection: Any, project: str, job_key: str, make: Maker) -> str:
        return self.add_on(connection, project, job_key, make)

    async def _add(self, session: Session, project: str, job_key: str, make: Maker) -> str:
        rows = await entry_rows(session, project, [job_key])
        entry = entry_of(self.cache, rows[0]) if rows else None
        if entry is None or entry.cursor.state is JobState.DELETED:
            raise NotFound("job", job_key)
        now = self._wall()
        new = make(entry.job, now)
        (id,) = await Adding(session, self.cache, now, 0).add([new], careful=True)
        if id != new.id:
            new.require_same_payload(id, from_json(await session.value("payload", id)))
        return id


def _check_path(connection: sqlite3.Connection, path: Path) -> None:
    files = {name: file for _, name, file in connection.execute("PRAGMA database_list")}
    file = files["main"]
    if not (file and path.exists() and Path(file).samefile(path)):
        raise StoreRefused(
            f"the connection is to {file or 'a database in memory'}, not to {path}; a transaction"
            " takes a run along in the same file only"
        )


def _take_lock(connection: sqlite3.Connection, path: Path) -> None:
    """Hold the write lock before anything is read, and see that the file has our tables.

    A transaction that was begun without the lock, as Django does, and reads first, is refused its
    first write when another process has written in between.
    """
    try:
        connection.execute("DELETE FROM queue WHERE 0")
        is_ours = connection.execute("PRAGMA application_id").fetchone()[0] == APPLICATION_ID
    except sqlite3.OperationalError as error:
        if "no such table" not in str(error):
            raise
        is_ours = False
    if not is_ours:
        raise StoreRefused(f"{path} has no tables of Tickwell yet; start the scheduler once")


@contextmanager
def _plainly(connection: sqlite3.Connection) -> Iterator[None]:
    """Rows as tuples and texts as texts, whatever the caller wants them to be."""
    before = connection.row_factory, connection.text_factory
    connection.row_factory, connection.text_factory = None, str
    try:
        yield
    finally:
        connection.row_factory, connection.text_factory = before


@contextmanager
def _within(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing in the caller's transaction, begun here where the driver would begin it."""
    begins = not connection.in_transaction
    if begins:
        if connection.isolation_level is None or getattr(connection, "autocommit", None) is True:
            raise InvalidInput(
                "no transaction is open", field="connection", hint='Execute "BEGIN IMMEDIATE" first'
            )
        connection.execute("BEGIN IMMEDIATE")
    connection.execute("SAVEPOINT tickwell")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # SQLite has rolled back by itself after some errors
            connection.execute("ROLLBACK TO tickwell")
            connection.execute("RELEASE tickwell")
        if begins:
            connection.rollback()
        raise
    connection.execute("RELEASE tickwell")
