"""A connection that runs statements by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from tickwell.stores.sql.statements import Statements


class Session(Protocol):
    """What the operations see of a connection, mostly inside a transaction."""

    sql: Statements

    async def rows(self, name: str, *parameters: Any) -> list[Any]:
        """All rows; one that writes nothing back answers with none."""
        ...

    async def row(self, name: str, *parameters: Any) -> Any:
        """The first row, or None."""
        ...

    async def value(self, name: str, *parameters: Any) -> Any:
        """The first column of the first row, or None."""
        ...

    async def run(self, name: str, *parameters: Any) -> int:
        """Run one statement; how many rows were changed."""
        ...

    async def many(self, name: str, rows: Sequence[Sequence[Any]], *before: Any) -> list[Any]:
        """Run a statement over rows of parameters at once; nothing to do without rows."""
        ...

    async def query(self, text: str, *parameters: Any) -> list[Any]:
        """All rows of a statement that was put together for one purpose."""
        ...
