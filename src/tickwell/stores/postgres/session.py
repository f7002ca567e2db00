"""A connection that runs statements by their names."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from tickwell.stores.postgres.connection import Connection, has_arrays
from tickwell.stores.sql.rows.codec import quick_json
from tickwell.stores.sql.statements import Statements, load

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


def _sent(statement: str, parameters: tuple[Any, ...]) -> Sequence[Any]:
    """As they are sent: a list as text where the statement takes it so."""
    literals = _literals(statement)
    if not literals:
        return parameters
    sent = list(parameters)
    for index, literal in literals:
        if isinstance(sent[index], list):
            sent[index] = literal(sent[index])
    return sent


class Session:
    """What the operations see of a connection."""

    __slots__ = ("connection", "sql")

    def __init__(self, connection: Connection, sql: Statements) -> None:
        self.connection = connection
        self.sql = sql

    async def rows(self, name: str, *parameters: Any) -> list[Any]:
        """All rows; one that writes nothing back answers with none."""
        found: list[Any] = await self.connection.fetch(*await self._call(name, parameters))
        return found

    async def row(self, name: str, *parameters: Any) -> Any:
        """The first row, or None."""
        return await self.connection.fetchrow(*await self._call(name, parameters))

    async def value(self, name: str, *parameters: Any) -> Any:
        """The first column of the first row, or None."""
        return await self.connection.fetchval(*await self._call(name, parameters))

    async def run(self, name: str, *parameters: Any) -> int:
        """Run one statement; how many rows were changed."""
        status: str = await self.connection.execute(*await self._call(name, parameters))
        return int(status.rpartition(" ")[2])

    async def many(self, name: str, rows: Sequence[Sequence[Any]], *before: Any) -> list[Any]:
        """Run a statement over rows of parameters at once, given to it column by column."""
        if not rows:
            return []
        return await self.rows(name, *before, *map(list, zip(*rows, strict=True)))

    async def query(self, text: str, *parameters: Any) -> list[Any]:
        """All rows of a statement that was put together for one purpose."""
        found: list[Any] = await self.connection.fetch(text, *parameters)
        return found

    async def _call(self, name: str, parameters: tuple[Any, ...]) -> tuple[Any, ...]:
        """The statement and its parameters as they are sent."""
        text = self.sql[name]
        if has_arrays(text):
            await self.connection.learn()
        return text, *_sent(text, parameters)
