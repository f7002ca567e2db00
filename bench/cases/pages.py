"""Pages of the dashboard over a large store, against a static page of the same size."""

import http.client
import time
from pathlib import Path
from statistics import median

from bench.cases.api_create import serving
from bench.child import run_module
from bench.figure import Figure
from bench.options import Options
from bench.scratch import cache

JOBS, EXECUTIONS = 10_000, 1_000_000
ROUNDS = 9
BAR = 100.0
#: Seconds that a store is measured before it is made anew.
FRESH = 1800
PAGES = {
    "overview": "/",
    "timeline": "/timeline",
    "timeline of a week": "/timeline?span=7d",
    "calendar": "/calendar",
    "jobs": "/jobs",
    "jobs by a part of the name": "/jobs?q=job-0999",
    "job": "/jobs/job-04711-import",
    "editor": "/jobs/job-04711-import/edit",
    "slots": "/jobs/job-04711-import/slots",
    "executions": "/executions",
    "executions that succeeded": "/executions?state=succeeded",
    "executions that wait": "/executions?state=waiting",
    "dead letters": "/dead",
    "workers and queues": "/workers",
}


def measure(options: Options) -> list[Figure]:
    """Each page and a static one of its size, in turn."""
    path = cache() / f"history-{JOBS}-{EXECUTIONS}.db"
    if not path.exists() or _is_old(path):
        _make(path)
    with serving("bench.ours.api", str(path)) as ours, serving("bench.limits.static_page") as bare:
        return [
            _compare(name, page, ours, bare, ROUNDS * options.repeat)
            for name, page in PAGES.items()
        ]


def _is_old(path: Path) -> bool:
    """A page of the last hours has less on it, the older the store is."""
    made = path.with_suffix(".made")
    return not made.exists() or time.time() - made.stat().st_mtime > FRESH


def _make(path: Path) -> None:
    """Under another name first: half a store would be measured for ever."""
    young = path.with_suffix(".new")
    young.unlink(missing_ok=True)
    run_module("bench.ours.history", young, JOBS, EXECUTIONS)
    for rest in (".key", "-wal", "-shm"):  # of the one before it
        path.with_name(f"{path.name}{rest}").unlink(missing_ok=True)
    young.rename(path)
    path.with_suffix(".made").touch()


def _compare(name: str, page: str, ours: int, bare: int, rounds: int) -> Figure:
    server, static = (http.client.HTTPConnection("127.0.0.1", port) for port in (ours, bare))
    size = _get(server, page)[1]
    _get(static, f"/page/{size}")
    times = [(_get(server, page)[0], _get(static, f"/page/{size}")[0]) for _ in range(rounds)]
    server.close()
    static.close()
    return Figure(
        name=f"page: {name}, {JOBS:,} jobs, {EXECUTIONS:,} executions",
        ours=f"{median(a for a, _ in times) * 1e3:.1f} ms",
        against=f"static, {size / 1000:.0f} kB: {median(b for _, b in times) * 1e3:.2f} ms",
        ratios=[a / b for a, b in times],
        bar=BAR,
        smaller_is_better=True,
        details={"seconds": times, "bytes": size},
    )


def _get(server: http.client.HTTPConnection, path: str) -> tuple[float, int]:
    begin = time.perf_counter()
    server.request("GET", path)
    answer = server.getresponse()
    body = answer.read()
    seconds = time.perf_counter() - begin
    assert answer.status == 200, (path, answer.status)
    return seconds, len(body)
