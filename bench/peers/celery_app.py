"""Celery without Tickwell, with the same settings: `celery -A bench.peers.celery_app worker`."""

import os
import time

from celery import Celery
from celery.schedules import schedule

app = Celery("bare", broker=os.environ["BENCH_BROKER"])
app.conf.update(
    task_acks_late=True,
    task_ignore_result=True,
    worker_prefetch_multiplier=1,
    broker_connection_retry_on_startup=True,
    redbeat_redis_url=os.environ["BENCH_BROKER"],
    beat_max_loop_interval=1,
)
_starts = os.environ.get("BENCH_STARTS")
_file = os.open(_starts, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644) if _starts else -1


@app.task(name="noop")  # type: ignore[untyped-decorator]
def noop(text: str) -> None:
    """What every task queue does fastest."""


@app.task(name="start")  # type: ignore[untyped-decorator]
def start(job: str) -> None:
    """Note the instant; a line is one write."""
    os.write(_file, f"{job} {time.time()}\n".encode())


def add_entries(count: int) -> None:
    """Entries of RedBeat that are due every second."""
    from redbeat import RedBeatSchedulerEntry

    for number in range(count):
        name = f"job-{number}"
        RedBeatSchedulerEntry(name, "start", schedule(1.0), args=[name], app=app).save()
