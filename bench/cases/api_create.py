"""Jobs added over HTTP by 64 connections, against a bare FastAPI route with the same body model."""

import asyncio
import contextlib
import json
import subprocess
import sys
from collections.abc import Iterator
from itertools import count
from statistics import median

from bench.child import ROOT
from bench.crowd import crowd
from bench.figure import Figure
from bench.options import Options
from bench.stores import Kind

COUNT = 3_000
BATCH = 1_000
ROUNDS = 3
BAR, BATCH_BAR = 0.35, 10.0
KNOWN = ("SQLite", "PostgreSQL")

_rounds = count()


def measure(options: Options) -> list[Figure]:
    """Each round in turn: the bare route, ours, and ours in batches."""
    return [
        figure for store in options.stores if store.name in KNOWN for figure in _on(store, options)
    ]


def _on(store: Kind, options: Options) -> list[Figure]:
    with (
        store.empty() as where,
        serving("bench.limits.bare_api") as bare,
        serving("bench.ours.api", where) as ours,
    ):
        rounds = [_round(bare, ours) for _ in range(ROUNDS * options.repeat)]
    single = [each["ours"] for each in rounds]
    return [
        Figure(
            name=f"POST /api/v1/jobs on {store.name}, 64 connections",
            ours=f"{median(single):,.0f} jobs/s",
            against=f"bare route {median(each['bare'] for each in rounds):,.0f}/s",
            ratios=[each["ours"] / each["bare"] for each in rounds],
            bar=BAR,
            details={"rounds": rounds},
        ),
        Figure(
            name=f"POST /api/v1/jobs/batch on {store.name}, {BATCH:,} each",
            ours=f"{median(each['batch'] for each in rounds):,.0f} jobs/s",
            against=f"one by one {median(single):,.0f} jobs/s",
            ratios=[each["batch"] / each["ours"] for each in rounds],
            bar=BATCH_BAR,
        ),
    ]


def _round(bare: int, ours: int) -> dict[str, float]:
    series, path = next(_rounds), "/api/v1/jobs"
    found = {}
    for name, port in (("bare", bare), ("ours", ours)):
        seconds = asyncio.run(crowd(port, path, lambda n: _body(f"{series}-{n}"), COUNT))
        found[name] = COUNT / seconds
    batches = 20  # about as long as the requests one by one
    seconds = asyncio.run(crowd(ours, f"{path}/batch", lambda n: _many(f"{series}-{n}"), batches))
    found["batch"] = batches * BATCH / seconds
    return found


def _job(name: str) -> dict[str, object]:
    """An address, not a name: what is measured is the service, not a resolver."""
    return {
        "name": name,
        "trigger": {"cron": "0 9 * * mon-fri", "tz": "Europe/Rome"},
        "target": {"http": {"url": "https://93.184.215.14/hook", "headers": {"X-Team": "a"}}},
        "payload": {"customer": 4711, "what": ["report", "bill"]},
        "retry": {"max_attempts": 5, "delay": "10s"},
        "tags": ["bench"],
    }


def _body(name: str) -> bytes:
    return json.dumps(_job(name)).encode()


def _many(name: str) -> bytes:
    return json.dumps({"jobs": [_job(f"{name}-{each}") for each in range(BATCH)]}).encode()


@contextlib.contextmanager
def serving(module: str, *arguments: str) -> Iterator[int]:
    """A server in a process of its own; its port."""
    command = [sys.executable, "-m", module, *arguments]
    child = subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert child.stdout is not None
    try:
        yield int(child.stdout.readline())
    finally:
        child.communicate()
