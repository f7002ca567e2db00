"""The bridge between Celery's signals and the engine, in this process and without a broker."""

import gc
import sys
import threading
from dataclasses import dataclass
from typing import Any

import pytest
from celery import Celery, signals

from tests.processes.child import until
from tickwell.celery.worker_bridge import WorkerBridge
from tickwell.declared.internals import internals
from tickwell.scheduler import Scheduler
from tickwell.settings import Settings


@pytest.fixture(autouse=True)
def not_ours():
    """The bridge takes the process for its own; what runs here after it is to find it as it was."""
    thresholds, interval = gc.get_threshold(), sys.getswitchinterval()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()
    sys.setswitchinterval(interval)


@pytest.fixture
def bridge(tmp_path):
    made = WorkerBridge(Scheduler(f"sqlite:///{tmp_path}/store/jobs.db"))
    app = Celery("tickwell", broker="memory://", set_as_current=False)
    made.connect(app)
    yield made
    signals.worker_shutdown.send(sender=None)
    for signal, receiver in made.receivers():
        signal.disconnect(receiver)


@dataclass(frozen=True)
class CeleryWorker:
    """What the bridge reads of a worker of Celery's."""

    app: Any
    concurrency: int
    pool_cls: str = "celery.concurrency.thread:TaskPool"
    hostname: str = "celery@here"


def start(bridge, concurrency=2, app=None):
    signals.worker_init.send(sender=CeleryWorker(app or bridge.app, concurrency))


def in_thread(bridge, id):
    """A thread of Celery's pool that runs the task."""
    thread = threading.Thread(target=bridge.run, args=(id,), daemon=True)
    thread.start()
    return thread


def test_slots_and_threads_follow_the_concurrency(bridge, tmp_path):
    (tmp_path / "store").mkdir()
    start(bridge, concurrency=Settings().capacity + 100)
    bridge.run("unknown")  # returns once the engine is up
    settings = bridge.scheduler.settings
    assert (
        settings.capacity == settings.threads == bridge.inbox.capacity == Settings().capacity + 100
    )


def test_the_workers_list_shows_how_many_a_worker_runs_at_once(bridge, tmp_path):
    (tmp_path / "store").mkdir()
    start(bridge, concurrency=7)
    bridge.run("unknown")  # returns once the engine is up
    assert bridge.scheduler.health().ok
    [known] = bridge.scheduler.blocking.call(internals(bridge.scheduler).store.list_workers)
    assert known.worker.capacity == 7
    assert known.worker.id.startswith("celery@here/")


def test_an_engine_that_cannot_start_tries_again_and_messages_wait(bridge, tmp_path, caplog):
    start(bridge)  # its folder does not exist
    waiting = in_thread(bridge, "unknown")
    until(lambda: "engine start failed; retrying" in caplog.text)
    assert waiting.is_alive()
    (tmp_path / "store").mkdir()
    waiting.join(60)
    assert not waiting.is_alive()
    until(lambda: "the engine has started after" in caplog.text)
    assert caplog.text.count("engine start failed") == 1


def test_messages_are_released_at_shutdown_while_the_store_is_away(bridge, caplog):
    start(bridge)  # its folder does not exist
    waiting = in_thread(bridge, "unknown")
    until(lambda: "engine start failed; retrying" in caplog.text)
    assert waiting.is_alive()
    signals.worker_shutting_down.send(sender="celery@here")
    waiting.join(60)
    assert not waiting.is_alive()


def test_workers_of_another_app_start_no_engine(bridge):
    start(bridge, app=Celery("other", broker="memory://", set_as_current=False))
    signals.worker_process_init.send(sender=None)
    assert not any(each.name == "tickwell-engine" for each in threading.enumerate())
