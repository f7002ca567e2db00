"""Separate tables in the same database: few users may create a database."""

# ruff: noqa: S608 - the names are our own

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tickwell.stores.mysql.database import Database
from tickwell.stores.mysql.dialect import template
from tickwell.stores.mysql.url import PREFIX, parse
from tickwell.testing.verify.scratch.scratch_store import DocumentScratch, with_option

_TABLES = (
    "SELECT table_name FROM information_schema.tables"
    " WHERE table_schema = DATABASE() AND LEFT(table_name, CHAR_LENGTH($1)) = $1"
)


class MysqlScratch(DocumentScratch):
    """The tables of one prefix."""

    def __init__(self, url: str, tag: str) -> None:
        self._prefix = f"{tag}_"
        self.url = with_option(url, "prefix", self._prefix)
        self._location = parse(self.url)
        self.name = (
            f"the tables {self._prefix}… of {parse(with_option(url, 'prefix', PREFIX)).name}"
        )

    async def empty(self) -> None:
        async with self._opened() as database:
            for table in await self._tables(database):
                if table != f"{self._prefix}meta":
                    await _run(database, f"DELETE FROM `{table}`")

    async def drop(self) -> None:
        async with self._opened() as database:
            for table in await self._tables(database):
                await _run(database, f"DROP TABLE IF EXISTS `{table}`")

    async def swap(self, job: str, document: str) -> str:
        table = f"`{self._prefix}job`"
        async with self._opened() as database:
            found = await _run(database, f"SELECT document FROM {table} WHERE id = $1", job)
            update = f"UPDATE {table} SET document = $2 WHERE id = $1"
            await _run(database, update, job, document)
        [(before,)] = found
        return str(before)

    async def _tables(self, database: Database) -> list[str]:
        return [name for (name,) in await _run(database, _TABLES, self._prefix)]

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Database]:
        database = Database(self._location)
        await database.open()
        try:
            yield database
        finally:
            await database.close()


async def _run(database: Database, statement: str, *parameters: Any) -> list[Any]:
    text = template(statement, PREFIX)
    return await database.write_one(lambda session: session.query(text, *parameters))
