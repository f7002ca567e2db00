"""A drain with metrics, logs and traces against one without, a large scrape, and live output."""

import http.client
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median

from bench.cases import live_output
from bench.cases.api_create import serving
from bench.cases.drain import COUNT, faults, in_words
from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.stores import POSTGRES, Kind

ROUNDS, SCRAPES = 7, 15
DRAIN_BAR, SCRAPE_BAR = 0.95, 2.0
DRAINED = ("SQLite", "PostgreSQL")
#: Jobs, and executions of each.
FEW, MANY, EACH = 10_000, 1_000_000, 5
#: As Prometheus asks.
ACCEPT = "application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5,*/*;q=0.1"


def measure(options: Options) -> list[Figure]:
    """Drains on two stores, scrapes of two schemas, and drains beside attempts that log."""
    drains = [
        _drains(store, ROUNDS * options.repeat) for store in options.stores if store.name in DRAINED
    ]
    scrapes = _scrapes(options) if POSTGRES in options.stores else []
    return [*drains, *scrapes, *live_output.measure(options)]


def _drains(store: Kind, rounds: int) -> Figure:
    found: dict[str, list[dict[str, float]]] = {"on": [], "off": []}
    for number in range(rounds):
        # The second of a pair finds the machine as the first left it: each is second in turn.
        for how in ("on", "off") if number % 2 else ("off", "on"):
            with store.full(COUNT) as where:
                found[how].append(run_module("bench.ours.signals_drain", where, COUNT, how))
    return Figure(
        name=f"signals: {COUNT:,} no-ops on {store.name}, metrics, logs at info, traces",
        ours=in_words(found["on"]),
        against=f"without {in_words(found['off'])}",
        ratios=[
            off["seconds"] / on["seconds"]
            for on, off in zip(found["on"], found["off"], strict=True)
        ],
        bar=DRAIN_BAR,
        faults=faults([*found["on"], *found["off"]]),
        details=found,
    )


def _scrapes(options: Options) -> list[Figure]:
    few, many = FEW, max(int(MANY * options.part), FEW)
    with _filled("signals_few", few) as small, _filled("signals_many", many) as large:
        return [
            _scrape("read anew", (large[0], small[0]), many, SCRAPES * options.repeat),
            _scrape("as cached for 5 s", (large[1], small[1]), many, SCRAPES * options.repeat),
        ]


def _scrape(
    how: str,
    servers: tuple[http.client.HTTPConnection, http.client.HTTPConnection],
    jobs: int,
    rounds: int,
) -> Figure:
    # The first is for caches.
    times = [[_seconds(server) for server in servers] for _ in range(rounds + 1)][1:]
    return Figure(
        name=f"signals: scrape with {jobs:,} jobs, {jobs * EACH:,} executions, {how}",
        ours=f"{median(large for large, _ in times) * 1e3:.1f} ms",
        against=f"{FEW:,} jobs: {median(small for _, small in times) * 1e3:.1f} ms",
        ratios=[large / small for large, small in times],
        bar=SCRAPE_BAR,
        smaller_is_better=True,
        details={"seconds": times},
    )


@contextmanager
def _filled(
    name: str, jobs: int
) -> Iterator[tuple[http.client.HTTPConnection, http.client.HTTPConnection]]:
    """Two processes on a schema with so many jobs: one reads at every scrape, one remembers."""
    where = POSTGRES.place(name)
    POSTGRES.drop(where)
    run_module("bench.ours.postgres_history", where, jobs, jobs * EACH)
    POSTGRES.tidy(where)
    with serving("bench.ours.api", where, "0s") as anew, serving("bench.ours.api", where) as cached:
        yield tuple(http.client.HTTPConnection("127.0.0.1", port) for port in (anew, cached))
    POSTGRES.drop(where)


def _seconds(server: http.client.HTTPConnection) -> float:
    begin = time.perf_counter()
    server.request("GET", "/metrics", headers={"accept": ACCEPT})
    answer = server.getresponse()
    body = answer.read()
    seconds = time.perf_counter() - begin
    assert answer.status == 200, body[:500]
    assert b"tickwell_store_up 1.0" in body
    return seconds
