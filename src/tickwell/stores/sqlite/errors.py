"""Errors of SQLite in our words: what is wrong, where, and what to do next."""

from __future__ import annotations

import json
import sqlite3

from tickwell.errors import (
    StoreCorrupt,
    StoreError,
    StoreFull,
    StoreRefused,
    StoreUnavailable,
)

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_REFUSED = {
    sqlite3.SQLITE_READONLY: "cannot be written; let this user write it and its folder",
    sqlite3.SQLITE_PERM: "may not be used by this user; change its rights",
    sqlite3.SQLITE_AUTH: "may not be used by this user; change its rights",
    sqlite3.SQLITE_CANTOPEN: "cannot be opened; let this user read and write it and its folder",
    sqlite3.SQLITE_NOLFS: "is too large for this file system; move it to another",
    sqlite3.SQLITE_TOOBIG: "takes no value of this size; make the payload or the result smaller",
}


def code_of(error: sqlite3.Error) -> int:
    """The primary code of SQLite, without the details in its upper bits; 0 when it has none."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


def is_busy(error: sqlite3.Error) -> bool:
    """Whether another process holds the lock: worth another try."""
    return code_of(error) in _BUSY


def is_full(error: sqlite3.Error) -> bool:
    """Whether there is no space left, for the file or for the memory that its users share."""
    extended = int(getattr(error, "sqlite_errorcode", 0) or 0)
    return code_of(error) == sqlite3.SQLITE_FULL or extended == sqlite3.SQLITE_IOERR_SHMSIZE


def is_taken(error: BaseException | None) -> bool:
    """Whether something that must be there once was written already."""
    return isinstance(error, sqlite3.IntegrityError)


def is_bad_data(error: BaseException) -> bool:
    """Whether one of the values given cannot be stored: Python says so before SQLite is asked."""
    return isinstance(error, sqlite3.DataError)


def translate(error: sqlite3.Error, where: str) -> StoreError:
    """The same in our tree of errors; the caller keeps the cause."""
    code = code_of(error)
    if code in _BUSY:
        return StoreUnavailable(
            f"{where} stayed locked by another process; try again, or end that process"
        )
    if is_full(error):
        return StoreFull(f"{where} has no space left; free some, and work resumes by itself")
    if code in {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}:
        return StoreCorrupt(f"{where} is damaged; restore a backup ({error})")
    if code in _REFUSED:
        return StoreRefused(f"{where} {_REFUSED[code]}")
    if code == sqlite3.SQLITE_IOERR:
        return StoreUnavailable(f"{where} cannot be read or written; check the disk ({error})")
    return StoreError(f"{where} reported an error: {error}")


def not_json(error: json.JSONDecodeError, where: str) -> StoreCorrupt:
    """Somebody else wrote it: what we write can be read."""
    return StoreCorrupt(
        f"{where} holds a value that is not JSON ({error}); restore a backup, or mend the payload"
        " for which json_valid(payload) is 0"
    )
