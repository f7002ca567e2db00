"""Stores full of jobs that are not due for a long time: built once in a run."""

import atexit
import shutil
import tempfile
from functools import lru_cache
from pathlib import Path

from bench.child import run_module
from bench.place import cache

FEW = 1_000
MANY = 1_000_000


@lru_cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(dir=cache()))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@lru_cache
def resting_jobs(count: int) -> Path:
    """The SQLite file with so many jobs."""
    path = _folder() / f"resting-{count}.db"
    run_module("bench.ours.register", path, count)
    return path
