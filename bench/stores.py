"""The stores that are measured: where each keeps what is measured, its bare loop, its bars."""

import atexit
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, ClassVar

from bench.child import run_module
from bench.place import cache, copy_database, scratch
from tests.servers.postgres import server

FEW = 1_000
MANY = 1_000_000


class Sqlite:
    """Files."""

    name = "SQLite"
    #: What ratios have to reach or to stay under, by case; no entry: informative.
    bars: ClassVar = {"drain": 0.5, "cron": 0.4, "scale": 1.3}

    @contextmanager
    def empty(self) -> Iterator[str]:
        """Where a new store is for one measurement."""
        with scratch() as folder:
            yield str(folder / "store.db")

    @contextmanager
    def full(self, runs: int) -> Iterator[str]:
        """Where a store is that has so many requested runs."""
        with scratch() as folder:
            yield str(copy_database(_enqueued(runs), folder / "copy.db"))

    @lru_cache  # noqa: B019 - there is one of each
    def resting(self, jobs: int) -> str:
        """Where a store is that has so many jobs of which none is due for months."""
        path = str(_folder() / f"resting-{jobs}.db")
        run_module("bench.ours.register", path, jobs)
        return path

    def bare(self, where: str) -> dict[str, float]:
        """Drain it by the bare loop."""
        return _answer(run_module("bench.limits.sqlite_loop", where))


class Postgres:
    """Schemas of a server of its own, durable as it comes."""

    name = "PostgreSQL"
    bars: ClassVar = {
        "drain": 0.7,
        "pgqueuer": 1.4,
        "two": 1.2,
        "cron": 0.25,
        "once": 0.25,
        "scale": 1.3,
    }

    def __init__(self) -> None:
        self._numbers = count()

    @contextmanager
    def empty(self) -> Iterator[str]:
        schema = f"bench_{next(self._numbers)}"
        yield f"{server().url}?schema={schema}"
        run_module("bench.schema", server().url, schema, "drop")

    @contextmanager
    def full(self, runs: int) -> Iterator[str]:
        with self.empty() as where:
            run_module("bench.ours.enqueue", where, runs)
            run_module("bench.schema", *address(where), "tidy")
            yield where

    @lru_cache  # noqa: B019 - there is one of each
    def resting(self, jobs: int) -> str:
        where = f"{server().url}?schema=resting_{jobs}"
        run_module("bench.ours.register", where, jobs)
        run_module("bench.schema", *address(where), "tidy")
        return where

    def bare(self, where: str, *way: str) -> dict[str, float]:
        return _answer(run_module("bench.limits.postgres_loop", *address(where), *way))


def address(where: str) -> tuple[str, str]:
    """The URL of a database, and the schema in it."""
    url, _, schema = where.partition("?schema=")
    return url, schema


def _answer(answer: Any) -> dict[str, float]:
    found: dict[str, float] = answer
    return found


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


SQLITE, POSTGRES = Sqlite(), Postgres()
Kind = Sqlite | Postgres
STORES: dict[str, Kind] = {"sqlite": SQLITE, "postgresql": POSTGRES}
