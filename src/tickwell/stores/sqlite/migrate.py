"""The schema and its changes: numbered files, applied under the write lock."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

from tickwell.errors import SchemaTooNew
from tickwell.stores.sqlite.errors import code_of
from tickwell.stores.sqlite.file import APPLICATION_ID, foreign
from tickwell.stores.sqlite.patience import Patience

#: What each number makes of the schema before it; the last is the schema that this code knows.
STEPS = sorted(
    (
        file
        for file in files("tickwell.stores.sqlite").joinpath("migrations").iterdir()
        if file.name.endswith(".sql")
    ),
    key=lambda file: file.name,
)


def migrate(connection: sqlite3.Connection, path: Path, patience: Patience) -> None:
    """Bring the schema up to date; of two processes that open the file at once, one does it."""
    if _version(connection, path) == len(STEPS):
        return
    patience.run(lambda: connection.execute("BEGIN IMMEDIATE"))
    try:
        for step in STEPS[_version(connection, path) :]:
            for statement in _statements(step.read_text("utf-8")):
                connection.execute(statement)
        connection.execute(f"PRAGMA application_id = {APPLICATION_ID}")
        connection.execute(f"PRAGMA user_version = {len(STEPS)}")
        connection.execute("COMMIT")
    finally:
        if connection.in_transaction:
            connection.execute("ROLLBACK")


def _version(connection: sqlite3.Connection, path: Path) -> int:
    def read(query: str) -> int:
        return int(connection.execute(query).fetchone()[0])

    try:
        is_ours = read("PRAGMA application_id") == APPLICATION_ID
        is_empty = not is_ours and read("SELECT count(*) FROM sqlite_master") == 0
    except sqlite3.DatabaseError as error:
        if code_of(error) == sqlite3.SQLITE_NOTADB:
            raise foreign(path) from error
        raise
    if not is_ours and not is_empty:
        raise foreign(path)
    found = read("PRAGMA user_version")
    if found > len(STEPS):
        raise SchemaTooNew(str(path), found, len(STEPS))
    return found


def _statements(script: str) -> Iterator[str]:
    """One by one: `executescript` would commit before the first."""
    statement = ""
    for line in script.splitlines(keepends=True):
        if not line.lstrip().startswith("--"):
            statement += line
        if statement.strip() and sqlite3.complete_statement(statement):
            yield statement
            statement = ""
