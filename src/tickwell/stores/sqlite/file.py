"""The database file: whether it can be ours, before anything is written to it."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from tickwell.errors import StoreRefused

#: "Tick": in the header of every Tickwell database, so that no other file is taken for one.
APPLICATION_ID = 0x5469636B


def check(path: Path) -> None:
    """Raise `StoreRefused` for a file that cannot be used.

    It is not opened: closing it again would drop, by POSIX, every lock that this process holds
    on it through SQLite, and another process could take the log for its own. Whose it is, is
    asked through SQLite.
    """
    if path.is_dir():
        raise StoreRefused(f"{path} is a folder; name a file in it")
    if path.exists() and not path.is_file():
        raise StoreRefused(f"{path} is a device or a pipe; name a file")
    if not path.parent.is_dir():
        raise StoreRefused(f"the folder of {path} does not exist; create it, or name another file")
    if not _may(path.parent, os.W_OK | os.X_OK):
        raise StoreRefused(
            f"the folder of {path} cannot be written by this user; change its rights,"
            " since SQLite keeps its log there"
        )
    if path.exists() and not _may(path, os.R_OK | os.W_OK):
        raise StoreRefused(f"{path} cannot be read and written by this user; change its rights")


def make(path: Path) -> None:
    """Make a new file that its owner alone can read: payloads and headers are in it.

    SQLite gives its log the same rights. Why it cannot be made, SQLite says.
    """
    with suppress(OSError):
        path.touch(mode=0o600, exist_ok=False)


def identity(path: Path) -> tuple[int, int] | None:
    """Which file a path leads to; None: to none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def foreign(path: Path) -> StoreRefused:
    """The error for somebody else's file."""
    return StoreRefused(f"{path} is not a Tickwell database; name another file, or move it away")


def _may(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)
