"""The two threads of a store as the SQL stores see a database: one call is one hop."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TypeVar

from tickwell.stores.sqlite.reader import Reader
from tickwell.stores.sqlite.session import SQL, Session, drive
from tickwell.stores.sqlite.writer import Writer

T = TypeVar("T")
Work = Callable[[Session], Awaitable[T]]


class Database:
    """A thread that writes and a thread that reads."""

    sql = SQL

    def __init__(self, writer: Writer, reader: Reader) -> None:
        self.writer = writer
        self.reader = reader

    async def write(self, work: Work[T], look: Callable[[Session], T | None] | None = None) -> T:
        """Do this in a transaction; it may be done again, so it keeps nothing between runs.

        `look` may find, without a lock, that there is nothing to do: then it says what the answer
        is.
        """
        return await self.writer.call(lambda session: drive(work(session)), look)

    async def read(self, work: Work[T]) -> T:
        """Look at one state of the data, however many statements it takes."""
        return await self.reader.call(lambda session: drive(work(session)))

    async def survey(self, work: Work[T]) -> T:
        """Read tables as a whole, to count or sum them up."""
        return await self.read(work)

    async def write_one(self, work: Work[T]) -> T:
        """Run one statement that writes."""
        return await self.write(work)

    async def read_one(self, work: Work[T]) -> T:
        """Run one statement that only reads."""
        return await self.read(work)


class Transaction:
    """The same inside a transaction of a thread: an operation of several steps is one hop."""

    sql = SQL

    def __init__(self, session: Session) -> None:
        self.session = session

    async def write(self, work: Work[T]) -> T:
        """A step of the transaction."""
        return await work(self.session)

    read = survey = write_one = read_one = write
