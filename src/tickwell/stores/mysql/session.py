"""A connection that runs statements by their names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from asyncmy.connection import Connection
from asyncmy.constants.ER import NET_PACKET_TOO_LARGE
from asyncmy.errors import DataError

from tickwell.stores.mysql.dialect import fill
from tickwell.stores.sql.statements import Statements

#: What a packet holds beside the text of a statement, generously.
_HEAD = 64


class Session:
    """What the operations see of a connection."""

    __slots__ = ("connection", "most", "opening", "sql")

    def __init__(
        self, connection: Connection, sql: Statements, most: int = 2**24, opening: str = ""
    ) -> None:
        #: The driver's types say less than it does.
        self.connection: Any = connection
        self.sql = sql
        #: Bytes that the server takes at once.
        self.most = most
        #: What begins the transaction; it goes with the first statement, which saves a round trip.
        self.opening = opening

    async def rows(self, name: str, *parameters: Any) -> list[Any]:
        """All rows; one that writes nothing back answers with none."""
        return await self.query(self.sql[name], *parameters)

    async def row(self, name: str, *parameters: Any) -> Any:
        """The first row, or None."""
        rows = await self.rows(name, *parameters)
        return rows[0] if rows else None

    async def value(self, name: str, *parameters: Any) -> Any:
        """The first column of the first row, or None."""
        row = await self.row(name, *parameters)
        return None if row is None else row[0]

    async def run(self, name: str, *parameters: Any) -> int:
        """Run one statement; how many rows were changed."""
        _, changed = await self.send(fill(self.sql[name], parameters, self.connection.escape))
        return changed

    async def many(self, name: str, rows: Sequence[Sequence[Any]], *before: Any) -> list[Any]:
        """Run a statement over rows of parameters at once, which are its last parameter."""
        if not rows:
            return []
        if name in {"finish", "finish_quickly"}:
            return await self._finish(rows, held=name == "finish")
        if name == "best_before_gates":
            # MariaDB has no LATERAL, and a limit is no column here: gate by gate.
            return [row for one in rows for row in await self.rows(name, *one)]
        return await self.rows(name, *before, list(rows))

    async def _finish(self, rows: Sequence[Sequence[Any]], *, held: bool) -> list[Any]:
        """In two steps, since a write here does not tell which rows it met."""
        heads = [row[:3] for row in rows]
        found = await self.rows("standing_reports", held, heads)
        ids = {id for (id,) in found}
        if ids:
            running_rows = [row for row in rows if row[0] in ids]
            await self.run("finish", running_rows, list(ids))
        return found

    async def query(self, text: str, *parameters: Any) -> list[Any]:
        """All rows of a statement that was put together for one purpose."""
        rows, _ = await self.send(fill(text, parameters, self.connection.escape))
        return rows

    def written(self, value: Any) -> str:
        """A value as a part of such a statement."""
        return str(self.connection.escape(value)).replace("%", "%%")

    async def send(self, text: str) -> tuple[list[Any], int]:
        """Send SQL; the last rows that it answers with, and how many its last part changed."""
        if self.opening:
            text, self.opening = f"{self.opening}; {text}", ""
        if len(text) * 4 > self.most and len(text.encode()) + _HEAD > self.most:
            # The server would end the connection.
            raise DataError(NET_PACKET_TOO_LARGE, "more than max_allowed_packet at once")
        found: list[Any] = []
        async with self.connection.cursor() as cursor:
            await cursor.execute(text)
            while True:
                if cursor.description is not None:
                    found = list(await cursor.fetchall())
                if not await cursor.nextset():
                    return found, int(cursor.rowcount)
