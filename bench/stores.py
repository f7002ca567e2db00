"""The stores that are measured: where each keeps what is measured, its bare loop, its bars."""

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import ClassVar

from bench.child import run_module
from bench.scratch import cache, copy_database, scratch
from bench.served import Mongo, Mysql, Postgres, Redis, Served, address

__all__ = ["FEW", "MANY", "POSTGRES", "REDIS", "SQLITE", "STORES", "Kind", "address"]

FEW = 1_000
MANY = 1_000_000


class Sqlite:
    """Files; otherwise as `Served`."""

    name = "SQLite"
    bars: ClassVar = {"drain": 0.5, "cron": 0.4, "scale": 1.3}

    @contextmanager
    def empty(self) -> Iterator[str]:
        with scratch() as folder:
            yield str(folder / "store.db")

    @contextmanager
    def full(self, runs: int) -> Iterator[str]:
        with scratch() as folder:
            yield str(copy_database(_enqueued(runs), folder / "copy.db"))

    @lru_cache  # noqa: B019 - there is one of each
    def resting(self, jobs: int) -> str:
        path = str(_folder() / f"resting-{jobs}.db")
        run_module("bench.ours.register", path, jobs)
        return path

    def bare(self, where: str) -> dict[str, float]:
        answer: dict[str, float] = run_module("bench.limits.sqlite_loop", where)
        return answer


@lru_cache
def _folder() -> Path:
    folder = Path(tempfile.mkdtemp(dir=cache()))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


@lru_cache
def _enqueued(runs: int) -> Path:
    """A closed SQLite file with so many runs in it."""
    path = _folder() / f"full-{runs}.db"
    run_module("bench.ours.enqueue", path, runs)
    return path


SQLITE, POSTGRES, REDIS = Sqlite(), Postgres(), Redis()
Kind = Sqlite | Served
STORES: dict[str, Kind] = {
    "sqlite": SQLITE,
    "postgresql": POSTGRES,
    "mysql": Mysql(),
    "mongodb": Mongo(),
    "redis": REDIS,
}
