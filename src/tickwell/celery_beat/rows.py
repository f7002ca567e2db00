"""Rows of tables in another application's database: SQLite, PostgreSQL or MySQL, by its URL."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from tickwell.errors import InvalidInput

Row = Mapping[str, Any]
_EXAMPLE = "For example postgresql://user:password@localhost/shop"
_POSTGRES = {"postgresql", "postgres"}
_MYSQL = {"mysql", "mariadb"}


async def read_rows(url: str, tables: Sequence[str]) -> dict[str, list[Row]]:
    """All rows of each table; a table that is missing is refused."""
    scheme, _, rest = url.partition("://")
    kind = scheme.partition("+")[0]  # as others write it, postgresql+psycopg://…
    if not rest or kind not in {"sqlite", *_POSTGRES, *_MYSQL}:
        reason = f"{scheme or 'nothing'}:// is none of sqlite, postgresql and mysql"
        raise InvalidInput(reason, field="url", hint=_EXAMPLE)
    try:
        if kind == "sqlite":
            return await asyncio.to_thread(_sqlite, Path(unquote(rest.removeprefix("/"))), tables)
        if kind in _POSTGRES:
            return await _postgres(f"postgresql://{rest}", tables)
        return await _mysql(f"mysql://{rest}", tables)
    except ModuleNotFoundError as error:
        extra = "postgres" if kind in _POSTGRES else "mysql"
        hint = f"Install it: pip install 'tickwell[{extra}]'"
        raise InvalidInput(f"{error.name} is not installed", field="url", hint=hint) from error


def _sqlite(path: Path, tables: Sequence[str]) -> dict[str, list[Row]]:
    if not path.is_file():
        raise InvalidInput(f"there is no file {path}", field="url", hint="sqlite:///path/to/file")
    try:
        with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as database:
            database.row_factory = sqlite3.Row
            known = {row[0] for row in database.execute("select name from sqlite_master")}
            _require(tables, known)
            return {
                table: [dict(row) for row in database.execute(f"select * from {table}")]  # noqa: S608
                for table in tables
            }
    except sqlite3.Error as error:
        raise _unreadable(error) from error


async def _postgres(url: str, tables: Sequence[str]) -> dict[str, list[Row]]:
    import asyncpg

    try:
        connection = await asyncpg.connect(url)
        try:
            known = [
                table
                for table in tables
                if await connection.fetchval("select to_regclass($1)", table)
            ]
            _require(tables, set(known))
            return {
                table: [dict(row) for row in await connection.fetch(f"select * from {table}")]  # noqa: S608
                for table in tables
            }
        finally:
            await connection.close()
    except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, ValueError) as error:
        raise _unreadable(error) from error


async def _mysql(url: str, tables: Sequence[str]) -> dict[str, list[Row]]:
    import asyncmy
    from asyncmy.cursors import DictCursor
    from asyncmy.errors import MySQLError

    parts = urlsplit(url)
    try:
        connection = await asyncmy.connect(
            host=parts.hostname or "localhost",
            port=parts.port or 3306,
            user=unquote(parts.username or ""),
            password=unquote(parts.password or ""),
            db=unquote(parts.path.removeprefix("/")),
            cursor_cls=DictCursor,
        )
        try:
            async with connection.cursor() as cursor:
                await cursor.execute("show tables")
                _require(tables, {name for row in await cursor.fetchall() for name in row.values()})
                found: dict[str, list[Row]] = {}
                for table in tables:
                    await cursor.execute(f"select * from {table}")  # noqa: S608
                    found[table] = list(await cursor.fetchall())
                return found
        finally:
            await connection.ensure_closed()
    except (MySQLError, OSError, ValueError) as error:
        raise _unreadable(error) from error


def _require(tables: Sequence[str], known: set[str]) -> None:
    missing = [table for table in tables if table not in known]
    if missing:
        raise InvalidInput(
            f"the database has no table {missing[0]}",
            field="url",
            hint="Name the database of the Django project, after its migrations",
        )


def _unreadable(error: BaseException) -> InvalidInput:
    if isinstance(error, InvalidInput):  # which is a ValueError
        return error
    reason = f"the database cannot be read: {error}".replace("\n", " ")
    return InvalidInput(reason, field="url", hint="Check the URL, and that the database runs")
