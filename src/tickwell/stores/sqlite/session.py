"""A connection that runs statements by their names."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence
from functools import cache
from itertools import chain
from typing import Any

from tickwell.stores.sql.statements import load
from tickwell.stores.sql.text import read_own_json

SQL = load("tickwell.stores.sqlite")
#: Rows of a statement over `VALUES`: few sizes, so that all of them stay prepared.
SIZES = (1, 4, 16, 64, 128, 256, 512)


class Session:
    """What the operations see of a connection; it belongs to one thread."""

    __slots__ = ("connection",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection

    def run(self, name: str, *parameters: Any) -> sqlite3.Cursor:
        """Run one statement."""
        return self.connection.execute(SQL[name], parameters)

    def many(self, name: str, rows: Iterable[Sequence[Any]]) -> int:
        """Run a statement for each row of parameters; how many rows were changed."""
        return self.connection.executemany(SQL[name], rows).rowcount

    def together(self, name: str, rows: Sequence[Sequence[Any]], common: Sequence[Any]) -> None:
        """Change what is keyed by each row in a few steps, by a statement over `VALUES {rows}`.

        Between two steps a thread waits for Python's lock: beside a busy event loop 500 turns of
        `many` took longer than all that they wrote.
        """
        for begin in range(0, len(rows), SIZES[-1]):
            some = rows[begin : begin + SIZES[-1]]
            size = next(size for size in SIZES if size >= len(some))
            # The last one again where rows are too few: SQLite writes it once.
            whole = [*some, *[some[-1]] * (size - len(some))]
            statement = _with_rows(name, size, len(some[0]))
            self.connection.execute(statement, [*common, *chain.from_iterable(whole)])

    def insert(self, name: str, rows: Sequence[Sequence[Any]]) -> None:
        """Insert rows in a few steps, for the same reason."""
        begin = 0
        while begin < len(rows):
            size = next(size for size in reversed(SIZES) if size <= len(rows) - begin)
            some = rows[begin : begin + size]
            statement = _with_rows(name, size, len(some[0]))
            self.connection.execute(statement, [*chain.from_iterable(some)])
            begin += size

    def rows(self, name: str, *parameters: Any) -> list[Any]:
        """All rows."""
        return self.connection.execute(SQL[name], parameters).fetchall()

    def array(self, name: str, *parameters: Any) -> list[Any]:
        """All rows of a statement that answers with one JSON array of arrays: numbers and names."""
        found: list[Any] = read_own_json(self.value(name, *parameters))
        return found

    def row(self, name: str, *parameters: Any) -> Any:
        """The first row, or None."""
        return self.connection.execute(SQL[name], parameters).fetchone()

    def value(self, name: str, *parameters: Any) -> Any:
        """The first column of the first row, or None."""
        row = self.connection.execute(SQL[name], parameters).fetchone()
        return None if row is None else row[0]


@cache
def _with_rows(name: str, count: int, width: int) -> str:
    row = f"({', '.join('?' * width)})"
    return SQL[name].format(rows=", ".join([row] * count))
