"""The schema and its changes: numbered files, applied under the write lock."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from tickwell.errors import SchemaTooNew, StoreRefused
from tickwell.stores.sqlite.errors import code_of
from tickwell.stores.sqlite.file import APPLICATION_ID, foreign
from tickwell.stores.sqlite.writer import Patience

#: What each number makes of the schema before it; the last is the schema that this code knows.
STEPS = sorted(
    (
        file
        for file in files("tickwell.stores.sqlite").joinpath("migrations").iterdir()
        if file.name.endswith(".sql")
    ),
    key=lambda file: file.name,
)
_MADE = re.compile(r"\s*CREATE (?:UNIQUE )?(?:TABLE|INDEX) (\w+)")


def migrate(
    connection: sqlite3.Connection, path: Path, patience: Patience, *, shared: bool = False
) -> None:
    """Bring the schema up to date; of two processes that open the file at once, one does it.

    With `shared`, tables of another application may be there, under other names than ours.
    """
    if _version(connection, path, shared=shared) == len(STEPS):
        return
    patience.run(lambda: connection.execute("BEGIN IMMEDIATE"))
    try:
        found = _version(connection, path, shared=shared)
        if found == 0:
            # Under the lock only: before it, the names may be those that another process makes.
            _require_room(connection, path)
        for step in STEPS[found:]:
            for statement in _statements(step.read_text("utf-8")):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(STEPS)}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _version(connection: sqlite3.Connection, path: Path, *, shared: bool) -> int:
    try:
        mark, found, tables = _snapshot(connection)
    except sqlite3.DatabaseError as error:
        if code_of(error) == sqlite3.SQLITE_NOTADB:
            raise foreign(path) from error
        raise
    if mark != APPLICATION_ID and tables:
        if not shared:
            raise foreign(path)
        return 0
    if found > len(STEPS):
        raise SchemaTooNew(str(path), found, len(STEPS))
    return found


def _snapshot(connection: sqlite3.Connection) -> tuple[int, int, int]:
    """Application id, schema version and number of tables, as of one moment.

    Of two processes that open a new file at once, one in a hundred saw an id from before and
    tables from after the other's migration, and took the file for another application's.
    """
    query = (
        "SELECT application_id, user_version, (SELECT count(*) FROM sqlite_master)"
        " FROM pragma_application_id, pragma_user_version"
    )
    mark, found, tables = connection.execute(query).fetchone()
    return int(mark), int(found), int(tables)


def _require_room(connection: sqlite3.Connection, path: Path) -> None:
    """Refuse a file in which another application has tables or indexes with our names."""
    theirs = {name for (name,) in connection.execute("SELECT name FROM sqlite_master")}
    made = [_MADE.match(each) for step in STEPS for each in _statements(step.read_text("utf-8"))]
    taken = sorted({each[1] for each in made if each} & theirs)
    if taken:
        raise StoreRefused(
            f"{path} is the file of another application that has {', '.join(taken)} in it, names"
            " that Tickwell needs; name another file"
        )


def _statements(script: str) -> Iterator[str]:
    """One by one: `executescript` would commit before the first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        if not line.lstrip().startswith("--"):
            statement += line
        if statement.strip() and sqlite3.complete_statement(statement):
            yield statement
            statement = ""
