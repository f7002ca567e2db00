"""The tables and their changes: numbered files, applied under a named lock.

The server takes back no change of a table: a step that was interrupted is done again.
"""

from __future__ import annotations

import re
from hashlib import blake2b
from importlib.resources import files
from importlib.resources.abc import Traversable

from asyncmy.errors import MySQLError

from tickwell.errors import SchemaTooNew, StoreRefused, StoreUnavailable
from tickwell.ports.records import Flaw
from tickwell.stores.mysql.dialect import with_prefix
from tickwell.stores.mysql.errors import MAKING_RIGHTS, code_of
from tickwell.stores.mysql.server import NO_RIGHT, Flavour, check, check_rights, refusal
from tickwell.stores.mysql.session import Session
from tickwell.stores.mysql.url import Location

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


#: What each number makes of the tables before it; the last is the schema that this code knows.
#: Each file begins with the oldest schema whose code can still work on what it makes: during an
#: upgrade old and new code run side by side.
STEPS = sorted(
    (
        file
        for file in files("tickwell.stores.mysql").joinpath("migrations").iterdir()
        if file.name.endswith(".sql")
    ),
    key=lambda file: file.name,
)
_SERVES = re.compile(r"-- serves: (\d+)\n")
#: Seconds that a step, or another process's steps, may take: a day.
PATIENCE = 86_400.0
_COMMENT = re.compile(r"^\s*--.*\n", re.MULTILINE)


async def is_current(
    session: Session, location: Location, flavour: Flavour, *, makes: bool = True
) -> bool:
    """Whether the tables are as this code knows them; raises `StoreRefused` for what cannot be.

    What is asked once takes longer than what a statement timeout is made for: catalogues are read,
    and every table is tried. Who raises closes the connection.
    """
    if not flavour.is_too_old:
        await session.send(flavour.time_limit(0))
    found = await check(session, location, flavour)
    if not found and not makes:
        raise StoreRefused.nothing_in(location.name)
    if found:
        await check_rights(session, location)
    current = bool(found) and await _version(session, location) >= len(STEPS)
    await session.send(flavour.time_limit(location.statement_timeout))
    return current


async def migrate(session: Session, location: Location, flavour: Flavour) -> None:
    """Bring the tables up to date; of several at once, one does it while the others wait.

    They wait until its connection ends, which lets go of the lock.
    """
    lock = _lock(location)
    [(got,)] = await session.query(f"SELECT GET_LOCK('{lock}', {round(PATIENCE)})")
    if not got:
        raise StoreUnavailable(
            f"{location.name} is being set up by another process; try again, and end that one"
        )
    try:
        # For the tables themselves no step waits longer than anybody: all others would wait
        # behind it.
        await session.send(f"SET lock_wait_timeout = {max(1, round(location.lock_timeout))}")
        await _apply(session, location, flavour)
    except MySQLError as error:
        if code_of(error) != NO_RIGHT:
            raise
        raise await refusal(session, location, error, MAKING_RIGHTS) from error


async def _apply(session: Session, location: Location, flavour: Flavour) -> None:
    # Another process may have done it while this one waited.
    done = await _version(session, location) if await check(session, location, flavour) else 0
    for step in STEPS[done:]:
        text = _COMMENT.sub("", step.read_text("utf-8")).replace("{collation}", flavour.collation)
        first, *rest = [part for part in with_prefix(text, location.prefix).split(";\n") if part]
        await session.send(first)
        # Whose tables these are is known before there is a second one.
        await _note(session, location, application="tickwell", schema=done)
        for part in rest:
            await session.send(part)
    if done < len(STEPS):
        await _note(session, location, schema=len(STEPS), serves=_serves(STEPS[-1]))


async def _version(session: Session, location: Location) -> int:
    noted = dict(await session.query(f"SELECT name, value FROM `{location.prefix}meta`"))  # noqa: S608
    found, serves = int(noted["schema"]), int(noted.get("serves", 0))
    if serves > len(STEPS):
        raise SchemaTooNew(location.name, found, len(STEPS))
    return found


async def _note(session: Session, location: Location, **noted: object) -> None:
    for name, value in noted.items():
        await session.query(
            f"INSERT INTO `{location.prefix}meta` (name, value) VALUES (%(1)s, %(2)s)"  # noqa: S608
            " ON DUPLICATE KEY UPDATE value = %(2)s",
            name,
            str(value),
        )


def _serves(step: Traversable) -> int:
    found = _SERVES.match(step.read_text("utf-8"))
    return int(found[1]) if found else len(STEPS)


def _lock(location: Location) -> str:
    """A name of our own for each set of tables, among all named locks of a server."""
    schema = f"{location.database}/{location.prefix}"
    return f"tickwell-{blake2b(schema.encode(), digest_size=16).hexdigest()}"
