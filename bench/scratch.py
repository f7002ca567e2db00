"""Where measurements keep files: beside the sources, since /tmp may be memory and never flush."""

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from bench.child import ROOT

CACHE = ROOT / ".bench_cache"


def cache() -> Path:
    """A folder that git does not see."""
    CACHE.mkdir(exist_ok=True)
    ignore = CACHE / ".gitignore"
    if not ignore.exists():
        ignore.write_text("*\n", "utf-8")
    return CACHE


@contextlib.contextmanager
def scratch() -> Iterator[Path]:
    """A folder for one measurement."""
    with tempfile.TemporaryDirectory(dir=cache()) as folder:
        yield Path(folder)


def copy_database(source: Path, target: Path) -> Path:
    """A closed SQLite file, copied; an open one would have a journal beside it."""
    shutil.copyfile(source, target)
    # Else the first commit that is measured would wait for the copy to reach the disk.
    with target.open("rb") as file:
        os.fsync(file.fileno())
    return target
