"""What the parts of a SQL store share, whichever database it is."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

from tickwell.ports.records import ExecutionFilter, JobFilter
from tickwell.stores.sql.cache import JobCache
from tickwell.stores.sql.filters import Query
from tickwell.stores.sql.session import Session
from tickwell.stores.sql.statements import Statements

T = TypeVar("T")
Work = Callable[[Session], Awaitable[T]]


class Database(Protocol):
    """Connections and transactions."""

    sql: Statements

    async def write(self, work: Work[T]) -> T:
        """Do this in a transaction; it may be done again, so it keeps nothing between runs."""
        ...

    async def read(self, work: Work[T]) -> T:
        """Look at one state of the data, however many statements it takes."""
        ...

    async def survey(self, work: Work[T]) -> T:
        """Read tables as a whole, to count or sum them up: in one state of the data."""
        ...

    async def write_one(self, work: Work[T]) -> T:
        """Run one statement that writes, which is a transaction of its own."""
        ...

    async def read_one(self, work: Work[T]) -> T:
        """Run one statement that only reads; of several, each may see another state."""
        ...


class Errors(Protocol):
    """What is to be known of a driver's errors; a module."""

    def is_taken(self, error: BaseException | None, /) -> bool:
        """Whether somebody else has written what must be there once."""
        ...

    def is_bad_data(self, error: BaseException, /) -> bool:
        """Whether one of the values given cannot be stored."""
        ...


class Listing(Protocol):
    """Queries for lists, as the database wants them; a module."""

    def jobs_edge(
        self, sql: Statements, where: JobFilter, cursor: str | None, reach: int, /
    ) -> Query:
        """The last job of those that may be looked at; none where fewer are left."""
        ...

    def jobs_query(
        self,
        sql: Statements,
        where: JobFilter,
        cursor: str | None,
        limit: int,
        edge: str | None,
        /,
    ) -> Query:
        """Jobs by project and name, or the soonest first; up to an edge, if there is one."""
        ...

    def executions_reach(self, where: ExecutionFilter, /) -> int | None:
        """How many executions may be looked at; None: as many as it takes."""
        ...

    def executions_edge(
        self, sql: Statements, where: ExecutionFilter, cursor: str | None, reach: int, /
    ) -> Query:
        """The last execution of those that may be looked at; none where fewer are left."""
        ...

    def executions_query(
        self,
        sql: Statements,
        where: ExecutionFilter,
        cursor: str | None,
        limit: int,
        edge: str | None,
        /,
    ) -> Query:
        """Executions, newest id first; down to an edge, if there is one."""
        ...

    def one_query(self, sql: Statements, /) -> str:
        """One execution of a project, by its id."""
        ...

    async def lane_lengths(self, session: Session, code: int, limit: int, /) -> list[Any]:
        """The lanes of a state: queue, ability, count; project, job, version, time of the best."""
        ...


D = TypeVar("D", bound=Database)


def _nothing() -> None:
    """Other processes look by themselves."""


@dataclass(slots=True)
class Context(Generic[D]):
    """Connections, known definitions, and the dialect: one for all parts of a store."""

    database: D
    errors: Errors
    listing: Listing
    cache: JobCache
    #: Wakes other processes.
    ring: Callable[[], None] = _nothing


class Part(Generic[D]):
    """A part of a store, which implements one of its ports."""

    def __init__(self, context: Context[D]) -> None:
        self.context = context

    @property
    def database(self) -> D:
        """Connections; a store that is opened again has new ones."""
        return self.context.database

    @property
    def cache(self) -> JobCache:
        """The definitions that are known."""
        return self.context.cache
