"""A copy of the file while others write to it: SQLite's online backup."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from tickwell.errors import InvalidSetting, StoreError
from tickwell.stores.sqlite.connection import connect
from tickwell.stores.sqlite.forking import AtWork

#: Pages that one step copies: 4 MB, so that writers wait a moment only.
STEP = 1024
#: Seconds to rest when a writer is in the way.
PATIENCE = 0.05


def backup(path: Path, target: Path, progress: Callable[[int, int], None]) -> int:
    """Copy the database to a file that does not exist yet; answer its bytes.

    The copy is whole or not there: it is written beside the target and moved when it is checked.
    """
    if target.exists():
        raise InvalidSetting(
            f"{target} exists already", field="target", hint="Name a new file; nothing is replaced"
        )
    if not target.parent.is_dir():
        raise InvalidSetting(f"the folder of {target} does not exist", field="target")
    part = target.with_name(f"{target.name}.part")
    part.unlink(missing_ok=True)
    try:
        part.touch(mode=0o600)
        _copy(path, part, progress)
        part.rename(target)
    except (sqlite3.Error, OSError) as error:
        raise StoreError(f"{target} could not be written: {error}") from error
    finally:
        part.unlink(missing_ok=True)
    return target.stat().st_size


def _copy(path: Path, part: Path, progress: Callable[[int, int], None]) -> None:
    def on_step(_: int, remaining: int, total: int) -> None:
        progress(total - remaining, total)

    with (
        AtWork(),
        closing(connect(path, "full")) as source,
        closing(sqlite3.connect(part)) as copy,
    ):
        source.backup(copy, pages=STEP, progress=on_step, sleep=PATIENCE)
        copy.execute("PRAGMA journal_mode = delete")
        (verdict,) = copy.execute("PRAGMA quick_check").fetchone()
        if verdict != "ok":
            raise sqlite3.DatabaseError(f"the copy is damaged: {verdict}")
    descriptor = os.open(part, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
