"""Pages of every list of the API over a large PostgreSQL, against the same over a small one."""

import http.client
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from statistics import median
from typing import Any

from bench.cases.api_create import serving
from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.stores import POSTGRES

#: Jobs, and executions of each.
FEW, MANY, EACH = 10_000, 1_000_000, 5
ROUNDS = 15
BAR = 2.0
LISTS = {
    "jobs": "/jobs",
    "jobs that are active": "/jobs?state=active",
    "jobs that are paused, none": "/jobs?state=paused",
    "jobs of a queue": "/jobs?queue=default",
    "jobs of a queue without any": "/jobs?queue=none",
    "jobs with a tag": "/jobs?tag=team-7",
    "jobs by a part of the name": "/jobs?search=job-99",
    "jobs by a name that nobody has": "/jobs?search=nobody",
    "executions": "/executions",
    "executions that succeeded": "/executions?state=succeeded",
    "executions that died": "/executions?state=dead",
    "executions that run, none": "/executions?state=running",
    "executions that wait or are queued, none": "/executions?state=waiting&state=queued",
    "executions on request, none": "/executions?kind=request",
    "executions of a queue": "/executions?queue=default",
    "executions of a job": "/executions?job=job-4711",
    "dead letters by error": "/dead-letters/groups",
    "history of a job": "/jobs/job-4711/history",
    "failures of a job": "/jobs/job-4711/history?state=dead",
}
#: Read on from the end of the page before, so many times, before the page that is measured.
DEEP = 20


def measure(options: Options) -> list[Figure]:
    """Each page over both, in turn."""
    few, many = FEW, max(int(MANY * options.part), FEW)
    with _filled("lists_few", few) as small, _filled("lists_many", many) as large:
        pages = {name: (path, path) for name, path in LISTS.items()}
        for name, path in (("jobs", "/jobs?limit=50"), ("executions", "/executions?limit=50")):
            pages[f"{name}, page {DEEP + 1}"] = _deep(large, path), _deep(small, path)
        return [
            _compare(
                f"list: {name}, {many:,} jobs, {many * EACH:,} executions",
                list(zip((large, small), paths, strict=True)),
                ROUNDS * options.repeat,
            )
            for name, paths in pages.items()
        ]


@contextmanager
def _filled(name: str, jobs: int) -> Iterator[http.client.HTTPConnection]:
    """A connection to the API over a schema with so many jobs."""
    where = POSTGRES.place(name)
    POSTGRES.drop(where)
    run_module("bench.ours.postgres_history", where, jobs, jobs * EACH)
    POSTGRES.tidy(where)
    with serving("bench.ours.api", where) as port:
        yield http.client.HTTPConnection("127.0.0.1", port)
    POSTGRES.drop(where)


def _deep(server: http.client.HTTPConnection, path: str) -> str:
    page = path
    for _ in range(DEEP):
        cursor = _get(server, page)[1]["next_cursor"]
        page = f"{path}&cursor={cursor}"
    return page


def _compare(name: str, pages: list[tuple[http.client.HTTPConnection, str]], rounds: int) -> Figure:
    # The first is for caches.
    times = [[_get(*page)[0] for page in pages] for _ in range(rounds + 1)][1:]
    return Figure(
        name=name,
        ours=f"{median(large for large, _ in times) * 1e3:.1f} ms",
        against=f"{FEW:,} jobs: {median(small for _, small in times) * 1e3:.1f} ms",
        ratios=[large / small for large, small in times],
        bar=BAR,
        smaller_is_better=True,
        details={"seconds": times},
    )


def _get(server: http.client.HTTPConnection, path: str) -> tuple[float, dict[str, Any]]:
    begin = time.perf_counter()
    server.request("GET", f"/api/v1{path}")
    answer = server.getresponse()
    body = answer.read()
    seconds = time.perf_counter() - begin
    assert answer.status == 200, (path, answer.status, body[:500])
    return seconds, json.loads(body)
