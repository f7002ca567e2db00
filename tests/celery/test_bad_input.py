"""What cannot work is refused with one sentence and its remedy."""

import os
import subprocess
import sys

import pytest

from tests.processes.start import ROOT
from tickwell.celery import make_app
from tickwell.errors import InvalidSetting
from tickwell.scheduler import Scheduler
from tickwell.settings import Settings

REDIS = "redis://127.0.0.1:6379/0"


def celery(*arguments, **environment):
    command = [sys.executable, "-m", "celery", *arguments]
    known = {name: value for name, value in os.environ.items() if not name.startswith("TICKWELL_")}
    return subprocess.run(
        command, cwd=ROOT, env=known | environment, capture_output=True, text=True, check=False
    )


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"engine": "rq"}, "engine: unknown engine 'rq'; expected one of tickwell, celery"),
        ({"engine": "celery"}, "broker: Celery needs a broker, and none is named"),
        ({"broker": "redis://:pa/ss@host"}, "broker: the host and port cannot be read"),
        ({"broker": "sqs://me:secret@host"}, "broker: unsupported broker scheme 'sqs'"),
    ],
)
def test_settings_that_do_not_fit(settings, words):
    with pytest.raises(InvalidSetting) as refused:
        Settings(**settings)
    assert words in str(refused.value)
    assert "redis://" in str(refused.value) or "celery" in str(refused.value)
    assert "secret" not in str(refused.value)


def test_a_broker_may_hold_a_password_that_is_not_shown():
    assert "hidden" not in repr(Settings(broker="redis://:hidden@host/0"))


def test_workers_of_celery_cannot_see_into_a_process():
    scheduler = Scheduler("memory://", settings=Settings(broker=REDIS))
    with pytest.raises(InvalidSetting, match="cannot see what a process keeps in memory"):
        make_app(scheduler)


def test_a_worker_without_a_broker_says_so_in_one_line(tmp_path):
    store = f"sqlite:///{tmp_path}/jobs.db"
    done = celery("-A", "tickwell.celery", "worker", TICKWELL_STORE=store)
    assert done.returncode != 0
    assert "tickwell: broker: Celery needs a broker" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("pool", ["gevent", "eventlet"])
def test_a_pool_without_threads_is_refused(tmp_path, pool):
    store = f"sqlite:///{tmp_path}/jobs.db"
    environment = {"TICKWELL_STORE": store, "TICKWELL_BROKER": REDIS}
    # The pool's own package may be missing, and is not needed to be told.
    code = (
        "from unittest.mock import Mock;"
        "from tickwell.celery import app;"
        "from celery import signals;"
        f"name='celery.concurrency.{pool}:TaskPool';"
        "signals.worker_init.send(sender=Mock(app=app, pool_cls=name, concurrency=2))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert f"tickwell: the {pool} pool has no thread for heartbeats" in done.stderr
    assert "--pool prefork" in done.stderr


def test_importing_tickwell_imports_no_celery():
    code = "import sys, tickwell, tickwell.celery; print('celery' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout == "False\n"
