"""How statements are written in the .sql files here, and what the driver is given.

`$1` is the first parameter; a list in its place is JSON. `$1[]` is a list as `IN` takes it.
`ROWS($1, id ID, count INT)` is a table of such a list: one row for each element, and columns by
their places in it. A name may stand for several statements; they are sent together, and the answer
is that of the last one that has rows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

from tickwell.stores.mysql.url import PREFIX
from tickwell.stores.sql.statements import Statements, load

#: Types of the columns of ROWS. Without a character set it would be that of the database.
TYPES = {
    "ID": "CHAR(36) CHARACTER SET utf8mb4",
    "NAME": "VARCHAR(1024) CHARACTER SET utf8mb4",
    "TEXT": "LONGTEXT CHARACTER SET utf8mb4",
    "INT": "BIGINT",
}
_ROWS = re.compile(r"ROWS\(([$@]\w+),([^)]*)\)")
_LIST = re.compile(r"\$(\d+)\[\]")
_ONE = re.compile(r"\$(\d+)")
_OURS = re.compile(rf"\b{PREFIX}")

Escape = Callable[[Any], str]


@cache
def statements(prefix: str) -> Statements:
    """All statements, for one set of tables."""
    found = load("tickwell.stores.mysql")
    return Statements({name: template(text, prefix) for name, text in found.items()})


def with_prefix(text: str, prefix: str) -> str:
    """SQL for tables of other names than those in the files."""
    return text if prefix == PREFIX else _OURS.sub(prefix, text)


def template(text: str, prefix: str) -> str:
    """What parameters are filled into."""
    text = _ROWS.sub(_table, with_prefix(text, prefix).replace("%", "%%"))
    return _ONE.sub(r"%(\1)s", _LIST.sub(r"%(\1[])s", text))


def fill(text: str, parameters: Sequence[Any], escape: Escape) -> str:
    """A template with its parameters in it."""
    return text % _Filling(parameters, escape)


def _table(match: re.Match[str]) -> str:
    columns = []
    for index, column in enumerate(match[2].split(",")):
        name, kind = column.split()
        columns.append(f"{name} {TYPES[kind]} PATH '$[{index}]'")
    return f"JSON_TABLE({match[1]}, '$[*]' COLUMNS ({', '.join(columns)}))"


class _Filling(dict[str, str]):
    """Parameters as SQL, each written out when it is asked for."""

    def __init__(self, parameters: Sequence[Any], escape: Escape) -> None:
        super().__init__()
        self._parameters = parameters
        self._escape = escape

    def __missing__(self, key: str) -> str:
        value = self._parameters[int(key.removesuffix("[]")) - 1]
        if key.endswith("[]"):
            # Nothing has an empty name: the list stays a list, and none is in it.
            return f"({','.join(map(self._escape, value or ['']))})"
        if isinstance(value, list):
            value = _as_json(value)
        self[key] = text = self._escape(value)
        return text


def _as_json(values: list[Any]) -> str:
    rows = values if values and isinstance(values[0], list | tuple) else [[one] for one in values]
    return json.dumps(rows, separators=(",", ":"), ensure_ascii=False)
