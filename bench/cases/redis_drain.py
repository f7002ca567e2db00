"""Redis: the drain against the bare redis-py loop and against dramatiq, and the other cases.

`python -m bench.cases.redis_drain [drain|dramatiq|lateness|scale|idle …]`
"""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from pathlib import Path
from typing import Any, ClassVar, cast

from bench.cases import drain, idle, lateness, scale
from bench.cases.drain import COUNT, drained, faults, in_words
from bench.child import run_module, run_script
from bench.figure import Figure
from bench.options import Options
from bench.peers.environment import peer_python
from bench.stores import Kind
from bench.table import render
from tests.servers.redis import Server, start

PEER = Path(__file__).parent.parent / "peers" / "dramatiq_drain.py"
ROUNDS = 3


@lru_cache
def server() -> Server:
    """With an append-only file, which is written every second."""
    return start("--appendonly", "yes", "--appendfsync", "everysec")


class Redis:
    """Prefixes of a server of its own; what a measurement leaves stays until it ends."""

    name = "Redis"
    bars: ClassVar = {"drain": 0.5, "dramatiq": 2.0, "cron": 0.5, "scale": 1.3}

    def __init__(self) -> None:
        self._numbers = count()

    @contextmanager
    def empty(self) -> Iterator[str]:
        yield f"{server().url}?prefix=bench{next(self._numbers)}"

    @contextmanager
    def full(self, runs: int) -> Iterator[str]:
        with self.empty() as where:
            run_module("bench.ours.enqueue", where, runs)
            yield where

    @lru_cache  # noqa: B019 - there is one of each
    def resting(self, jobs: int) -> str:
        where = f"{server().url}?prefix=resting{jobs}"
        run_module("bench.ours.register", where, jobs)
        return where

    def bare(self, where: str) -> dict[str, float]:
        answer: dict[str, float] = run_module(
            "bench.limits.redis_loop", *where.split("?prefix=", 1)
        )
        return answer


REDIS = cast("Kind", Redis())


class OnRedis(Options):
    """The same for one store that is not among the default ones."""

    @property
    def stores(self) -> list[Kind]:
        return [REDIS]


def against_dramatiq(options: Options) -> list[Figure]:
    """One process of each, in turn."""
    ours, peers = [], list[dict[str, Any]]()
    for _ in range(ROUNDS * options.repeat):
        peers.append(run_script(peer_python(), PEER, server().url, COUNT))
        ours.append(drained(REDIS))
    wrong = [f"dramatiq handled {each['handled']}" for each in peers if each["handled"] != COUNT]
    return [
        Figure(
            name=f"dramatiq: {COUNT:,} no-ops on Redis",
            ours=in_words(ours),
            against=f"dramatiq {in_words(peers)}",
            ratios=[b["seconds"] / a["seconds"] for a, b in zip(ours, peers, strict=True)],
            bar=REDIS.bars["dramatiq"],
            faults=faults(ours) + wrong,
            details={"ours": ours, "peer": peers},
        )
    ]


CASES: dict[str, Callable[[Options], list[Figure]]] = {
    "drain": drain.measure,
    "dramatiq": against_dramatiq,
    "lateness": lateness.measure,
    "scale": scale.measure,
    "idle": idle.measure,
}

if __name__ == "__main__":
    asked = sys.argv[1:] or ["drain", "dramatiq"]
    print(render([figure for name in asked for figure in CASES[name](OnRedis())]))
