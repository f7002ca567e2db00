"""A connection that runs statements by their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import asyncpg

from tickwell.stores.sql.statements import Statements, load
from tickwell.stores.sql.text import quick_json

_SCHEMA = re.compile(r"\btickwell\.")
_LITERAL = re.compile(r"\$(\d+)::text::(\w+)\[\]|string_to_array\(\$(\d+)")
#: What stands between texts that have none of it in them: in JSON it is always escaped.
_BETWEEN = "\x1f"


def in_schema(text: str, schema: str) -> str:
    """SQL for another schema than the one that the files name.

    Names are qualified, since a pooler may hand every transaction another search path.
    """
    return text if schema == "tickwell" else _SCHEMA.sub(f'"{schema}".', text)


@cache
def statements(schema: str) -> Statements:
    """All statements, for one schema."""
    found = load("tickwell.stores.postgres")
    return Statements({name: in_schema(text, schema) for name, text in found.items()})


@cache
def _literals(statement: str) -> list[tuple[int, Callable[[list[Any]], str]]]:
    """Which parameters are arrays as one text, and what writes them.

    The driver takes long over each element of an array.
    """
    return [
        (int(number or joined) - 1, _WRITERS.get(kind, _numbers))
        for number, kind, joined in _LITERAL.findall(statement)
    ]


def _numbers(numbers: list[int | bool | None]) -> str:
    inside = repr(numbers)[1:-1]
    return f"{{{inside.replace('None', 'NULL')}}}"


def _texts(texts: list[str | None]) -> str:
    """In JSON a quote and a backslash are escaped as in an array; what else is, is not."""
    found = quick_json(texts)
    if found is None or "\\" in found.replace("\\\\", "").replace('\\"', ""):
        found = f"[{','.join(map(_text, texts))}]"
    return f"{{{found[1:-1]}}}"


def _text(text: str | None) -> str:
    if text is None:
        return "null"
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


#: By the type of an element; without one, texts to be taken apart: neither side escapes anything.
_WRITERS: dict[str, Callable[[list[Any]], str]] = {
    "text": _texts,
    "uuid": _texts,
    "": _BETWEEN.join,
}


class Session:
    """What the operations see of a connection."""

    __slots__ = ("connection", "sql")

    def __init__(self, connection: asyncpg.Connection, sql: Statements) -> None:
        self.connection = connection
        self.sql = sql

    async def rows(self, name: str, *parameters: Any) -> list[Any]:
        """All rows; one that writes nothing back answers with none."""
        found: list[Any] = await self.connection.fetch(self.sql[name], *parameters)
        return found

    async def row(self, name: str, *parameters: Any) -> Any:
        """The first row, or None."""
        return await self.connection.fetchrow(self.sql[name], *parameters)

    async def value(self, name: str, *parameters: Any) -> Any:
        """The first column of the first row, or None."""
        return await self.connection.fetchval(self.sql[name], *parameters)

    async def run(self, name: str, *parameters: Any) -> int:
        """Run one statement; how many rows were changed."""
        status: str = await self.connection.execute(self.sql[name], *parameters)
        return int(status.rpartition(" ")[2])

    async def many(self, name: str, rows: Sequence[Sequence[Any]], *before: Any) -> list[Any]:
        """Run a statement over rows of parameters at once, given to it column by column."""
        if not rows:
            return []
        parameters: list[Any] = [*before, *map(list, zip(*rows, strict=True))]
        for place, literal in _literals(self.sql[name]):
            parameters[place] = literal(parameters[place])
        return await self.rows(name, *parameters)

    async def query(self, text: str, *parameters: Any) -> list[Any]:
        """All rows of a statement that was put together for one purpose."""
        found: list[Any] = await self.connection.fetch(text, *parameters)
        return found
