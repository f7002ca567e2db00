"""`sqlite:///file`: one file, any number of processes on one host."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from os import PathLike
from pathlib import Path
from urllib.parse import quote

from tickwell.clock import wall_millis
from tickwell.domain.promises import SQLITE, SQLITE_NORMAL
from tickwell.errors import StoreRefused
from tickwell.stores.pause import comes
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sqlite.catalog import SqliteCatalog
from tickwell.stores.sqlite.connection import connect, prepare
from tickwell.stores.sqlite.file import identity
from tickwell.stores.sqlite.history import SqliteHistory
from tickwell.stores.sqlite.queue import SqliteQueue
from tickwell.stores.sqlite.reader import Reader
from tickwell.stores.sqlite.records import SqliteRecords
from tickwell.stores.sqlite.session import Session
from tickwell.stores.sqlite.transactional import SqliteTransactional
from tickwell.stores.sqlite.upkeep import SqliteUpkeep
from tickwell.stores.sqlite.url import Location, parse
from tickwell.stores.sqlite.writer import Writer

#: Seconds between two looks for writes of other processes; a look takes 5 µs.
LOOK = 0.15
#: Seconds that a call waits for the lock in all.
WAIT = 10.0


class SqliteStore(
    SqliteQueue, SqliteCatalog, SqliteHistory, SqliteRecords, SqliteTransactional, SqliteUpkeep
):
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
        self.cache = JobCache()
        where = str(location.path)
        self.writer = Writer(
            where, lambda: prepare(self._path, synchronous, wait, shared=shared), wait
        )
        self.reader = Reader(where, lambda: connect(self._path, synchronous), wait)
        self._wall = wall
        self._seen: tuple[Session, int] | None = None
        self._file: tuple[int, int] | None = None
        self._looks = {}
        self._closed = asyncio.Event()

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
                f"{self._path} was moved, deleted or replaced while it is used; put it back, or"
                " restart to begin with what is there now"
            )
        await self.reader.call(lambda session: session.value("next_fire", "[]"))
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

    async def _version(self) -> tuple[Session, int]:
        return await self.writer.call(_data_version, _data_version)


def _data_version(session: Session) -> tuple[Session, int]:
    """Numbers of two connections say nothing of each other: a fork has the file opened anew."""
    return session, session.connection.execute("PRAGMA data_version").fetchone()[0]
