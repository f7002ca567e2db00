"""The Celery workers that are measured: `celery -A bench.ours.celery_app worker`.

By the environment: BENCH_STORE, BENCH_BROKER and, where starts are noted, BENCH_STARTS, a file.
"""

import os
import time

from tickwell import Scheduler, Settings
from tickwell.celery import make_app
from tickwell.declared.internals import internals
from tickwell.executors.run import Run

scheduler = Scheduler(
    os.environ["BENCH_STORE"], settings=Settings(broker=os.environ["BENCH_BROKER"])
)
app = make_app(scheduler)
_starts = os.environ.get("BENCH_STARTS")
_file = os.open(_starts, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644) if _starts else -1


def noop(text: str) -> None:
    """What every task queue does fastest."""


def start(run: Run) -> None:
    """Note the instant; a line is one write."""
    os.write(_file, f"{run.job} {time.time()}\n".encode())


internals(scheduler).handlers.add("noop", noop)
internals(scheduler).handlers.add("start", start)
