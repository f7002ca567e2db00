"""The indexes that statements go by: whether somebody dropped one, or put another in its place."""

from __future__ import annotations

import re

from tickwell.ports.records import Flaw
from tickwell.stores.mysql.dialect import with_prefix
from tickwell.stores.mysql.migrate import STEPS
from tickwell.stores.mysql.session import Session

_TABLE = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+) \((.*?)\)\s*ENGINE", re.DOTALL)
_KEY = re.compile(r"^ *(UNIQUE )?KEY (\w+) \(([^)]+)\)", re.MULTILINE)
#: A column of which the beginning is enough is another column.
_FOUND = (
    "SELECT table_name, index_name, MIN(non_unique) = 0,"
    " GROUP_CONCAT(CONCAT(column_name, IF(sub_part IS NULL, '', '(')) ORDER BY seq_in_index)"
    " FROM information_schema.statistics WHERE table_schema = DATABASE()"
    " AND table_name IN %(1[])s GROUP BY table_name, index_name"
)

#: Table and name to whether it is unique, and its columns.
Indexes = dict[tuple[str, str], tuple[bool, str]]


async def flaws(session: Session, prefix: str) -> list[Flaw]:
    """What is missing or another one, each with the statement that makes it again."""
    wanted = made(prefix)
    rows = await session.query(_FOUND, sorted({table for table, _ in wanted}))
    found: Indexes = {
        (table, name): (bool(is_unique), columns) for table, name, is_unique, columns in rows
    }
    flawed = []
    for (table, name), (is_unique, columns) in wanted.items():
        there = found.get((table, name))
        if there == (is_unique, columns):
            continue
        quoted = ", ".join(f"`{column}`" for column in columns.split(","))
        make = f"ADD {'UNIQUE ' * is_unique}KEY {name} ({quoted})"
        if there is None:
            text = f"the index {name} of {table} is missing"
        else:
            text = f"the index {name} of {table} is not as Tickwell made it"
            make = f"DROP KEY {name}, {make}"
        flawed.append(Flaw(text, f"As its owner: ALTER TABLE `{table}` {make};"))
    return flawed


def made(prefix: str) -> Indexes:
    """The indexes as they were made, but for primary keys."""
    text = with_prefix("\n".join(step.read_text("utf-8") for step in STEPS), prefix)
    return {
        (table[1], key[2]): (bool(key[1]), re.sub("[` ]", "", key[3]))
        for table in _TABLE.finditer(text)
        for key in _KEY.finditer(table[2])
    }
