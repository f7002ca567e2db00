"""A separate schema in the same database."""

# ruff: noqa: S608 - the names are our own

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from tickwell.stores.postgres.database import Database
from tickwell.stores.postgres.session import Session
from tickwell.stores.postgres.url import parse
from tickwell.testing.verify.scratch.scratch_store import DocumentScratch, with_option

_TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = $1 AND tablename <> 'meta'"


class PostgresScratch(DocumentScratch):
    """One schema."""

    def __init__(self, url: str, tag: str) -> None:
        self._schema = tag
        self.url = with_option(url, "schema", tag)
        self._location = parse(self.url)
        self.name = f"the schema {tag} of {parse(with_option(url, 'schema', 'tickwell')).name}"

    async def empty(self) -> None:
        async def delete(session: Session) -> None:
            for row in await session.connection.fetch(_TABLES, self._schema):
                await session.connection.execute(f'DELETE FROM "{self._schema}"."{row[0]}"')

        async with self._opened() as database:
            await database.write(delete)

    async def drop(self) -> None:
        await self._run(f'DROP SCHEMA IF EXISTS "{self._schema}" CASCADE')

    async def swap(self, job: str, document: str) -> str:
        table = f'"{self._schema}".job'
        [(before,)] = await self._run(f"SELECT document FROM {table} WHERE id = $1", job)
        await self._run(f"UPDATE {table} SET document = $2 WHERE id = $1", job, document)
        return str(before)

    async def _run(self, statement: str, *parameters: Any) -> list[Any]:
        async with self._opened() as database:
            rows: list[Any] = await database.write(
                lambda session: session.connection.fetch(statement, *parameters)
            )
        return rows

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Database]:
        database = Database(self._location)
        await database.open()
        try:
            yield database
        finally:
            await database.close()
