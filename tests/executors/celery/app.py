"""A small Celery app, as a user has it: `celery -A tests.executors.celery.app worker`."""

import os
import sys
import time
from pathlib import Path

from celery import Celery
from celery.signals import worker_ready

app = Celery(
    "shop", broker=os.environ.get("SHOP_BROKER"), backend=os.environ.get("SHOP_BACKEND") or None
)
app.conf.update(
    worker_redirect_stdouts=False,
    broker_connection_retry_on_startup=True,
    worker_prefetch_multiplier=1,
    task_track_started=os.environ.get("SHOP_TRACKS") == "1",
)
JOURNAL = os.environ.get("SHOP_JOURNAL", "/dev/null")


@worker_ready.connect
def tell(**_):
    sys.stdout.write("READY\n")
    sys.stdout.flush()


def note(request):
    """Count this run, outside of all backends: one line, written at once."""
    with Path(JOURNAL).open("a") as journal:
        journal.write(f"{request.id}\n")


@app.task(bind=True, name="shop.add")
def add(self, *args, **kwargs):
    note(self.request)
    headers = {k: v for k, v in (self.request.headers or {}).items() if k.startswith("tickwell")}
    limits = self.request.timelimit
    return {"args": args, "kwargs": kwargs, "headers": headers, "limits": limits}


@app.task(bind=True, name="shop.fail")
def fail(self, words="no such order"):
    note(self.request)
    raise ValueError(words)


@app.task(bind=True, name="shop.hold")
def hold(self, begun, go):
    """Say that it runs by one pipe, and end when somebody writes into the other."""
    note(self.request)
    with Path(begun).open("w") as pipe:
        pipe.write("begun")
    return Path(go).read_text()


@app.task(bind=True, name="shop.endless")
def endless(self):
    note(self.request)
    time.sleep(3600)
