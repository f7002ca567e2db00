"""A connection that runs statements by their names, in the thread that it belongs to.

The methods are coroutines, as the operations of the SQL stores want them, but never suspend: the
thread drives an operation from its first statement to its last without an event loop.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Awaitable, Mapping, Sequence
from functools import cache, lru_cache
from itertools import chain
from typing import Any, TypeVar

from tickwell.stores.sql.rows.codec import document_to_text, read_own_json
from tickwell.stores.sql.statements import load
from tickwell.stores.sqlite import batches

T = TypeVar("T")

SQL = load("tickwell.stores.sqlite")
#: Rows of a statement over `VALUES`: few sizes, so that all of them stay prepared.
SIZES = (1, 4, 16, 64, 128, 256, 512)
#: Names of numbered parameters: since Python 3.12, `?1` with a sequence is deprecated.
_NUMBERS = tuple(str(number) for number in range(1, 100))


def drive(work: Awaitable[T]) -> T:
    """Run a coroutine to its end, here and now; pauses between pieces of work are no pauses."""
    steps = work.__await__()
    try:
        while next(steps) is None:
            pass
    except StopIteration as end:
        result: T = end.value
        return result
    steps.close()
    raise RuntimeError("an operation on SQLite waited for something other than its statements")


class Session:
    """What the operations see of a connection; it belongs to one thread."""

    __slots__ = ("connection",)

    sql = SQL

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def execute(self, name: str, *parameters: Any) -> sqlite3.Cursor:
        """Run one statement; a list is given to it as JSON."""
        bound = [document_to_text(one) if type(one) is list else one for one in parameters]
        return self.connection.execute(SQL[name], _bound(SQL[name], bound))

    def execute_many(self, name: str, rows: Sequence[Sequence[Any]]) -> int:
        """Run a statement for each row of parameters; how many rows were changed."""
        text = SQL[name]
        if _is_numbered(text):
            return self.connection.executemany(text, [_bound(text, row) for row in rows]).rowcount
        return self.connection.executemany(text, rows).rowcount

    def document(self, name: str, *parameters: Any) -> Any:
        """What a statement answers as JSON of numbers and names, in one step."""
        return read_own_json(self.execute(name, *parameters).fetchone()[0])

    def array(self, name: str, *parameters: Any) -> list[Any]:
        """All rows of a statement that answers with one JSON array of arrays."""
        found: list[Any] = self.document(name, *parameters)
        return found

    def update_together(
        self, name: str, rows: Sequence[Sequence[Any]], common: Sequence[Any]
    ) -> None:
        """Change what is keyed by each row in a few steps, by a statement over `VALUES {rows}`.

        Between two steps a thread waits for Python's lock: next to a busy event loop 500 steps of
        `execute_many` took longer than all that they wrote.
        """
        for begin in range(0, len(rows), SIZES[-1]):
            some = rows[begin : begin + SIZES[-1]]
            size = next(size for size in SIZES if size >= len(some))
            # The last one again where rows are too few: SQLite writes it once.
            filled = [*some, *[some[-1]] * (size - len(some))]
            statement = _with_rows(name, size, len(some[0]))
            self.connection.execute(statement, [*common, *chain.from_iterable(filled)])

    def insert_together(self, name: str, rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows in a few steps, for the same reason."""
        begin = 0
        while begin < len(rows):
            size = next(size for size in reversed(SIZES) if size <= len(rows) - begin)
            some = rows[begin : begin + size]
            statement = _with_rows(name, size, len(some[0]))
            self.connection.execute(statement, [*chain.from_iterable(some)])
            begin += size

    async def rows(self, name: str, *parameters: Any) -> list[Any]:
        """All rows; one that writes nothing back answers with none."""
        if name == "running_rows":
            return self.array(name, *parameters)
        if name == "prune_executions":
            return batches.prune_executions(self, *parameters)
        return self.execute(name, *parameters).fetchall()

    async def row(self, name: str, *parameters: Any) -> Any:
        """The first row, or None."""
        # All are fetched: a statement that writes is done only then.
        found = self.execute(name, *parameters).fetchall()
        return found[0] if found else None

    async def value(self, name: str, *parameters: Any) -> Any:
        """The first column of the first row, or None."""
        row = self.execute(name, *parameters).fetchone()
        return None if row is None else row[0]

    async def run(self, name: str, *parameters: Any) -> int:
        """Run one statement; how many rows were changed."""
        return self.execute(name, *parameters).rowcount

    async def many(self, name: str, rows: Sequence[Sequence[Any]], *before: Any) -> list[Any]:
        """Run a statement over rows of parameters; nothing to do without rows."""
        if not rows:
            return []
        if name in batches.WRITERS:
            return batches.WRITERS[name](self, rows)
        kind = _kind(name)
        if kind == "values":
            self.insert_together(name, rows)
        elif kind == "array":
            return self.execute(name, *before, list(rows)).fetchall()
        elif kind == "rows":
            return [one for row in rows for one in self.execute(name, *before, *row).fetchall()]
        else:
            self.execute_many(name, [(*before, *row) for row in rows] if before else rows)
        return []

    async def query(self, text: str, *parameters: Any) -> list[Any]:
        """All rows of a statement that was put together for one purpose."""
        return self.connection.execute(text, _bound(text, parameters)).fetchall()


def _bound(text: str, parameters: Sequence[Any]) -> Sequence[Any] | Mapping[str, Any]:
    """Parameters as the statement takes them: numbered ones by their names."""
    if _is_numbered(text):
        return dict(zip(_NUMBERS, parameters, strict=False))
    return parameters


@lru_cache(maxsize=1024)
def _is_numbered(text: str) -> bool:
    return re.search(r"\?\d", text) is not None


@cache
def _kind(name: str) -> str:
    """How a statement takes many rows: in `VALUES`, as JSON, or one by one, answering or not."""
    text = SQL[name]
    if "{rows}" in text:
        return "values"
    if text.startswith("SELECT"):
        return "array" if "json_each(?1)" in text else "rows"
    return "rows" if "RETURNING" in text else "changes"


@cache
def _with_rows(name: str, count: int, width: int) -> str:
    row = f"({', '.join('?' * width)})"
    return SQL[name].format(rows=", ".join([row] * count))
