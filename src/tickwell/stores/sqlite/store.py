"""`sqlite:///file`: one file, any number of processes on one host."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tickwell.clock import wall_millis
from tickwell.domain.promises import SQLITE, SQLITE_NORMAL
from tickwell.errors import StoreRefused
from tickwell.ports.transactional import Maker
from tickwell.stores.event_wait import comes
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.history import SqlHistory
from tickwell.stores.sql.liveness import SqlLiveness
from tickwell.stores.sql.parts import Context
from tickwell.stores.sql.records import SqlRecords
from tickwell.stores.sql.steps import SqlSteps
from tickwell.stores.sql.store import SqlStore
from tickwell.stores.sql.transfer import SqlTransfer
from tickwell.stores.sqlite import errors, listing
from tickwell.stores.sqlite.connection import connect, prepare
from tickwell.stores.sqlite.database import Database
from tickwell.stores.sqlite.file import identity
from tickwell.stores.sqlite.parts import (
    SqliteCatalog,
    SqliteFiring,
    SqlitePruning,
    SqliteQueue,
    SqliteReports,
)
from tickwell.stores.sqlite.reader import Reader
from tickwell.stores.sqlite.session import Session
from tickwell.stores.sqlite.transactional import SqliteTransactions
from tickwell.stores.sqlite.url import Location, parse
from tickwell.stores.sqlite.writer import Writer

#: Seconds between two looks for writes of other processes; a look takes 5 µs.
LOOK = 0.15
#: Seconds that a call waits for the lock in all.
WAIT = 10.0


class SqliteStore(SqlStore[Database]):
    """Everything in one file, with a thread that writes and a thread that reads."""

    def __init__(
        self,
        path: str | PathLike[str],
        *,
        synchronous: str = "full",
        shared: bool = False,
        wait: float = WAIT,
        wall: Callable[[], int] = wall_millis,
    ) -> None:
        location = Location(Path(path), synchronous)
        self._path = location.path.absolute()
        self.name = f"sqlite:///{quote(str(location.path))}"
        self.promises = SQLITE_NORMAL if synchronous == "normal" else SQLITE
        where = str(location.path)
        self.writer = Writer(
            where, lambda: prepare(self._path, synchronous, wait, shared=shared), wait
        )
        self.reader = Reader(where, lambda: connect(self._path, synchronous), wait)
        self._wall = wall
        self._seen: tuple[Session, int] | None = None
        self._file: tuple[int, int] | None = None
        self._closed = asyncio.Event()
        context = Context(Database(self.writer, self.reader), errors, listing, JobCache())
        self.context = context
        self.firing = SqliteFiring(context)
        self.queue = SqliteQueue(context)
        self.reports = SqliteReports(context)
        self.liveness = SqlLiveness(context)
        self.catalog = SqliteCatalog(context)
        self.history = SqlHistory(context)
        self.steps = SqlSteps(context)
        self.records = SqlRecords(context)
        self.transfer = SqlTransfer(context)
        self.pruning = SqlitePruning(context)
        self.transactions = SqliteTransactions(context.cache, self._path, wall)

    @classmethod
    def from_url(cls, url: str, wall: Callable[[], int] = wall_millis) -> SqliteStore:
        """The store that a URL names."""
        location = parse(url)
        return cls(
            location.path, synchronous=location.synchronous, shared=location.shared, wall=wall
        )

    async def open(self) -> None:
        await self.writer.start()
        try:
            await self.reader.start()
            self._closed = asyncio.Event()
            self._file = identity(self._path)
            self._seen = await self._version()
        except BaseException:
            await self.close()
            raise

    async def close(self) -> None:
        self._closed.set()
        await self.reader.stop()
        await self.writer.stop()

    async def ping(self) -> int:
        if identity(self._path) != self._file:
            # SQLite would go on writing into the file that nobody finds any more.
            raise StoreRefused(
                f"{self._path} was moved, deleted or replaced while in use; put it back, or"
                " restart to continue with what is there now"
            )
        await self.reader.call(lambda session: session.execute("next_fire", []).fetchone())
        return self._wall()

    async def changed(self, seconds: float) -> bool:
        """Look at the file's version on the writing connection: its own commits do not count."""
        left = seconds
        while left > 0 and not self._closed.is_set():
            version = await self._version()
            if version != self._seen:
                self._seen = version
                return True
            pause = min(LOOK, left)
            left -= pause
            await comes(self._closed, pause)
        return False

    def add_on(self, connection: Any, project: str, job_key: str, make: Maker) -> str:
        return self.transactions.add_on(connection, project, job_key, make)

    async def add_on_async(self, connection: Any, project: str, job_key: str, make: Maker) -> str:
        return await self.transactions.add_on_async(connection, project, job_key, make)

    async def _version(self) -> tuple[Session, int]:
        return await self.writer.call(_data_version, _data_version)


def _data_version(session: Session) -> tuple[Session, int]:
    """Numbers of two connections say nothing of each other: a fork has the file opened anew."""
    return session, session.connection.execute("PRAGMA data_version").fetchone()[0]
