"""A connection that runs statements by their names."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Sequence
from typing import Any

from tickwell.stores.sql.statements import load

SQL = load("tickwell.stores.sqlite")


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

    def rows(self, name: str, *parameters: Any) -> list[Any]:
        """All rows."""
        return self.connection.execute(SQL[name], parameters).fetchall()

    def array(self, name: str, *parameters: Any) -> list[Any]:
        """All rows of a statement that answers with one JSON array of arrays."""
        found: list[Any] = json.loads(self.value(name, *parameters))
        return found

    def row(self, name: str, *parameters: Any) -> Any:
        """The first row, or None."""
        return self.connection.execute(SQL[name], parameters).fetchone()

    def value(self, name: str, *parameters: Any) -> Any:
        """The first column of the first row, or None."""
        row = self.connection.execute(SQL[name], parameters).fetchone()
        return None if row is None else row[0]
