"""The indexes that statements go by: whether somebody dropped one, or put another in its place."""

from __future__ import annotations

import re

from tickwell.ports.records import Flaw
from tickwell.stores.postgres.migrate import STEPS
from tickwell.stores.postgres.session import Session, in_schema

_MADE = re.compile(r"CREATE (?:UNIQUE )?INDEX (\w+) ON [^;]+")
_FOUND = """
SELECT class.relname AS name, pg_get_indexdef(class.oid) AS definition, indisvalid AS is_whole
FROM pg_index JOIN pg_class AS class ON class.oid = indexrelid
WHERE class.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)
"""
#: What the server writes otherwise than we do.
_NOISE = re.compile(r"USING btree|[\s()\"]")


async def flaws(session: Session, schema: str) -> list[Flaw]:
    """What is missing or another one, each with the statements that make it again."""
    found = {row["name"]: row for row in await session.query(_FOUND, schema)}
    flawed = []
    for name, definition in made(schema).items():
        there = found.get(name)
        make = definition.replace("INDEX", "INDEX CONCURRENTLY", 1)
        if there is None:
            flawed.append(Flaw(f"the index {name} is missing", f"As its owner: {make};"))
        elif not there["is_whole"] or _plain(there["definition"]) != _plain(definition):
            drop = f'DROP INDEX "{schema}".{name}'
            flawed.append(
                Flaw(
                    f"the index {name} is not as Tickwell made it", f"As its owner: {drop}; {make};"
                )
            )
    return flawed


def made(schema: str) -> dict[str, str]:
    """The statements that made the indexes, by name."""
    text = "\n".join(step.read_text("utf-8") for step in STEPS)
    return {
        match[1]: " ".join(match[0].split()) for match in _MADE.finditer(in_schema(text, schema))
    }


def _plain(definition: str) -> str:
    return _NOISE.sub("", definition)
