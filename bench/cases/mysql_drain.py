"""MariaDB: the drain against the bare asyncmy loop, and the other cases.

`python -m bench.cases.mysql_drain [drain|lateness|scale|idle …]`
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from typing import ClassVar, cast

from bench.cases import drain, idle, lateness, scale
from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.stores import Kind
from bench.table import render
from tests.servers.mariadb import server


class Mysql:
    """Tables of a server of its own, durable as it comes; they stay until it ends."""

    name = "MariaDB"
    bars: ClassVar = {"drain": 0.5, "cron": 0.5, "scale": 1.3}

    def __init__(self) -> None:
        self._numbers = count()

    @contextmanager
    def empty(self) -> Iterator[str]:
        yield f"{server().url}?prefix=bench{next(self._numbers)}_"

    @contextmanager
    def full(self, runs: int) -> Iterator[str]:
        with self.empty() as where:
            run_module("bench.ours.enqueue", where, runs)
            yield where

    @lru_cache  # noqa: B019 - there is one of each
    def resting(self, jobs: int) -> str:
        where = f"{server().url}?prefix=resting{jobs}_"
        run_module("bench.ours.register", where, jobs)
        return where

    def bare(self, where: str) -> dict[str, float]:
        answer: dict[str, float] = run_module(
            "bench.limits.mysql_loop", *where.split("?prefix=", 1)
        )
        return answer


MYSQL = cast("Kind", Mysql())


class OnMysql(Options):
    """The same for one store that is not among the default ones."""

    @property
    def stores(self) -> list[Kind]:
        return [MYSQL]


CASES: dict[str, Callable[[Options], list[Figure]]] = {
    "drain": drain.measure,
    "lateness": lateness.measure,
    "scale": scale.measure,
    "idle": idle.measure,
}

if __name__ == "__main__":
    asked = sys.argv[1:] or ["drain"]
    print(render([figure for name in asked for figure in CASES[name](OnMysql())]))
