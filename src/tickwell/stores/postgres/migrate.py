"""The schema and its changes: numbered files, applied under an advisory lock."""

from __future__ import annotations

import re
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable

import asyncpg

from tickwell.errors import SchemaTooNew, StoreRefused
from tickwell.ports.records import Flaw
from tickwell.stores.postgres.errors import driver_message
from tickwell.stores.postgres.server import check, check_rights
from tickwell.stores.postgres.session import Session, in_schema
from tickwell.stores.postgres.url import Location

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


#: What each number makes of the schema before it; the last is the schema that this code knows.
#: Each file begins with the oldest schema whose code can still work on what it makes: during an
#: upgrade old and new code run side by side.
STEPS = sorted(
    (
        file
        for file in files("tickwell.stores.postgres").joinpath("migrations").iterdir()
        if file.name.endswith(".sql")
    ),
    key=lambda file: file.name,
)
_SERVES = re.compile(r"-- serves: (\d+)\n")
#: Seconds that the driver waits for a step, or for another process's steps: a day.
PATIENCE = 86_400.0


async def migrate(session: Session, location: Location, *, makes: bool = True) -> None:
    """Bring the schema up to date, inside a transaction; of several at once, one does it."""
    found = await check(session.connection, location)
    if not found and not makes:
        raise StoreRefused.nothing_in(location.name)
    if found:
        await check_rights(session.connection, location)
    if not found or await _version(session, location) < len(STEPS):
        await _wait_for_turn(session, location)
        # Another process may have done it while this one waited.
        found = await check(session.connection, location)
        done = await _version(session, location) if found else 0
        if not found:
            await _make_schema(session, location)
        await _apply(session, location, done)


async def _wait_for_turn(session: Session, location: Location) -> None:
    """A large table takes longer to change than a statement may, and others wait as long.

    For the tables themselves no step waits longer than anybody: all others would wait behind it.
    """
    execute = session.connection.execute
    await execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0")
    await execute("SELECT pg_advisory_xact_lock($1)", _lock(location), timeout=PATIENCE)
    await execute(f"SET LOCAL lock_timeout = {int(location.lock_timeout * 1000)}")


async def _apply(session: Session, location: Location, done: int) -> None:
    try:
        for step in STEPS[done:]:
            text = in_schema(step.read_text("utf-8"), location.schema)
            await session.connection.execute(text, timeout=PATIENCE)
    except asyncpg.InsufficientPrivilegeError as error:
        raise StoreRefused(
            f"{location.name} is of an older version, and this user may not change it"
            f" ({driver_message(error)}); let its owner run: tickwell store migrate"
        ) from error
    if done < len(STEPS):
        await _note(session, location)


async def _make_schema(session: Session, location: Location) -> None:
    """Only where there is none: who was given one may have no right to make any."""
    query = "SELECT 1 FROM pg_namespace WHERE nspname = $1"
    if not await session.connection.fetchval(query, location.schema):
        await session.connection.execute(f'CREATE SCHEMA "{location.schema}"')


async def _version(session: Session, location: Location) -> int:
    query = in_schema("SELECT name, value FROM tickwell.meta", location.schema)
    noted = dict(await session.connection.fetch(query))
    found, serves = int(noted["schema"]), int(noted["serves"])
    if serves > len(STEPS):
        raise SchemaTooNew(location.name, found, len(STEPS))
    return found


async def _note(session: Session, location: Location) -> None:
    query = in_schema(
        "INSERT INTO tickwell.meta (name, value) VALUES ($1, $2)"
        " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        location.schema,
    )
    noted = {"application": "tickwell", "schema": len(STEPS), "serves": _serves(STEPS[-1])}
    for name, value in noted.items():
        await session.connection.execute(query, name, str(value))


def _serves(step: Traversable) -> int:
    found = _SERVES.match(step.read_text("utf-8"))
    return int(found[1]) if found else len(STEPS)


def _lock(location: Location) -> int:
    """A number of our own for each schema, among all advisory locks of a database."""
    digest = blake2b(f"tickwell/{location.schema}".encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big", signed=True)
