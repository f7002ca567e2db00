"""The database file: whether it can be ours, before anything is written to it."""

from __future__ import annotations

import os
from pathlib import Path

from tickwell.errors import StoreRefused

#: "Tick": in the header of every Tickwell database, so that no other file is taken for one.
APPLICATION_ID = 0x5469636B
_MAGIC = b"SQLite format 3\0"


def check(path: Path) -> None:
    """Raise `StoreRefused` for a file that cannot be used, or that is somebody else's."""
    if path.is_dir():
        raise StoreRefused(f"{path} is a folder; name a file in it")
    if not path.parent.is_dir():
        raise StoreRefused(f"the folder of {path} does not exist; create it, or name another file")
    if not _may(path.parent, os.W_OK | os.X_OK):
        raise StoreRefused(
            f"the folder of {path} cannot be written by this user; change its rights,"
            " since SQLite keeps its log there"
        )
    if path.exists() and not _may(path, os.R_OK | os.W_OK):
        raise StoreRefused(f"{path} cannot be read and written by this user; change its rights")
    if path.exists() and not _may_be_ours(path):
        raise foreign(path)


def foreign(path: Path) -> StoreRefused:
    """The error for somebody else's file."""
    return StoreRefused(f"{path} is not a Tickwell database; name another file, or move it away")


def _may(path: Path, mode: int) -> bool:
    return os.access(path, mode, effective_ids=os.access in os.supports_effective_ids)


def _may_be_ours(path: Path) -> bool:
    if _is_ours(path):
        return True
    if path.with_name(path.name + "-journal").exists():
        return True  # half-made: whoever opens it takes it back first, then looks again
    # Another process may have finished making it between the two looks.
    return _is_ours(path)


def _is_ours(path: Path) -> bool:
    with path.open("rb") as file:
        header = file.read(100)
    if not header:
        return True
    return header.startswith(_MAGIC) and int.from_bytes(header[68:72], "big") == APPLICATION_ID
