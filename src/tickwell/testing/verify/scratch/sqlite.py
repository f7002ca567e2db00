"""A separate file in the same folder, so on the same disk."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from tickwell.stores.sqlite.file import check, foreign
from tickwell.stores.sqlite.url import parse
from tickwell.testing.verify.scratch.scratch_store import DocumentScratch

#: How every database of SQLite begins; one without a table yet may be an empty file.
_BEGINNING = b"SQLite format 3\0"


class SqliteScratch(DocumentScratch):
    """One file, with the files that SQLite keeps next to it."""

    def __init__(self, url: str, tag: str) -> None:
        location = parse(url)
        check(location.path)
        _check_kind(location.path)
        self._path = location.path.with_name(f"{tag}.db")
        self.url = f"sqlite:///{quote(str(self._path))}?synchronous={location.synchronous}"
        self.name = f"the file {self._path}"

    async def empty(self) -> None:
        await self.drop()

    async def drop(self) -> None:
        for suffix in ("", "-wal", "-shm", "-journal"):
            self._path.with_name(self._path.name + suffix).unlink(missing_ok=True)

    async def swap(self, job: str, document: str) -> str:
        with closing(sqlite3.connect(self._path, isolation_level=None)) as connection:
            [(before,)] = connection.execute("SELECT document FROM job WHERE id = ?", (job,))
            connection.execute("UPDATE job SET document = ? WHERE id = ?", (document, job))
        return str(before)


def _check_kind(path: Path) -> None:
    """Refuse a file that is no database; SQLite itself would create files next to it."""
    if path.exists():
        with path.open("rb") as file:
            beginning = file.read(len(_BEGINNING))
        if beginning not in {b"", _BEGINNING}:
            raise foreign(path)
