"""How late fires start while 16 connections ask for lists, against a quiet service."""

import http.client
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import cycle
from statistics import median
from typing import Any

from bench.cases.api_create import serving
from bench.cases.lateness import percentile
from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.stores import Kind

CONNECTIONS = 16
JOBS, SECONDS = 100, 20
BAR = 2.0
KNOWN = ("SQLite", "PostgreSQL")
LISTS = (
    "/jobs",
    "/executions",
    "/executions?state=succeeded",
    "/jobs/job-7/history",
    "/jobs?limit=1",
)


def measure(options: Options) -> list[Figure]:
    """API and engine in processes of their own on one store, loaded and quiet in turn."""
    return [_on(store, options) for store in options.stores if store.name in KNOWN]


def _on(store: Kind, options: Options) -> Figure:
    rounds = [(_run(store, loaded=True), _run(store, loaded=False)) for _ in range(options.repeat)]
    pairs = [
        (percentile(loaded["lateness"], 0.99), percentile(quiet["lateness"], 0.99))
        for loaded, quiet in rounds
    ]
    asked = median(loaded["requests"] for loaded, _ in rounds) / SECONDS
    return Figure(
        name=f"api load: {JOBS} fires a second beside {CONNECTIONS} readers on {store.name}, p99",
        ours=f"{median(loaded for loaded, _ in pairs) * 1e3:.1f} ms, {asked:,.0f} lists/s",
        against=f"quiet {median(quiet for _, quiet in pairs) * 1e3:.1f} ms",
        ratios=[loaded / quiet for loaded, quiet in pairs],
        bar=BAR,
        smaller_is_better=True,
        faults=[
            f"{run['fired']:,} of {run['expected']:,} fired"
            for each in rounds
            for run in each
            if run["fired"] != run["expected"]
        ],
        details={"seconds": pairs},
    )


def _run(store: Kind, *, loaded: bool) -> dict[str, Any]:
    with store.empty() as where, serving("bench.ours.api", where) as port:
        with _readers(port if loaded else None) as requests:
            found = run_module("bench.ours.lateness", where, "spread", JOBS, SECONDS)
        return {**found, "requests": sum(requests)}


@contextmanager
def _readers(port: int | None) -> Iterator[list[int]]:
    """Connections that ask for one list after the other; what each of them has got."""
    stop, requests = threading.Event(), [0] * CONNECTIONS

    def read(number: int) -> None:
        server = http.client.HTTPConnection("127.0.0.1", port)
        for path in cycle(LISTS):
            if stop.is_set():
                break
            server.request("GET", f"/api/v1{path}")
            answer = server.getresponse()
            answer.read()
            requests[number] += answer.status == 200  # not before the jobs are there
        server.close()

    threads = [threading.Thread(target=read, args=(n,)) for n in range(CONNECTIONS if port else 0)]
    for thread in threads:
        thread.start()
    try:
        yield requests
    finally:
        stop.set()
        for thread in threads:
            thread.join()
