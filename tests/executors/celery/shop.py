"""Celery workers of the small app, as private processes."""

import os
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.executors.running import until
from tests.servers.private import at_end
from tickwell import OnDemand, Scheduler, Settings
from tickwell.executors.celery.message import Message


@dataclass
class Shop:
    """A broker, a result backend, and what counts the tasks that ran."""

    broker: str
    backend: str
    journal: Path

    def ran(self, execution):
        """The ids of the tasks of an execution, one for each time that one started."""
        return [each for each in self.journal.read_text().split() if each.startswith(execution.id)]


@contextmanager
def worker(broker, backend, *options, **environ):
    """A Celery worker that has told that it is ready."""
    folder = Path(tempfile.mkdtemp(prefix="tickwell-shop-"))
    journal = folder / "journal"
    journal.touch()
    variables = {"SHOP_BROKER": broker, "SHOP_BACKEND": backend, "SHOP_JOURNAL": str(journal)}
    command = [sys.executable, "-m", "celery", "-A", "tests.executors.celery.app", "worker"]
    command += ["--without-gossip", "--without-mingle", "--loglevel=INFO", *options]
    with (folder / "log").open("wb") as log:
        process = subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=log,
            env={**os.environ, **variables, **environ},
            text=True,
        )

    said = process.stdout
    assert said is not None

    def stop():
        process.kill()
        process.wait()
        said.close()
        shutil.rmtree(folder, ignore_errors=True)

    at_end(stop)
    try:
        for line in said:
            if line.strip() == "READY":
                break
        else:
            raise RuntimeError(f"the Celery worker did not start: {(folder / 'log').read_text()}")
        yield Shop(broker, backend, journal)
    finally:
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(30)
        stop()


def scheduler(shop, tmp_path, **settings):
    given = {"broker": shop.broker, "result_backend": shop.backend, "sweep": "200ms"}
    given = given | {"celery_tasks": ("default:*",)} | settings
    return Scheduler(f"sqlite:///{tmp_path / 'tickwell.db'}", settings=Settings(**given))


def message(**values):
    """A task as it is sent, with these values."""
    made: dict[str, Any] = {
        "id": "task",
        "task": "shop.add",
        "args": [],
        "kwargs": {},
        "queue": "celery",
    }
    made |= {"exchange": "", "routing_key": "", "priority": None, "headers": {}, "soft": None}
    made |= {"hard": None, "expires": None, "reply_to": None}
    return Message(**(made | values))


async def run(owner, target, payload=None, **policies):
    async with owner:
        await owner.add_job("job", OnDemand(), target, **policies)
        return await until(owner, await owner.trigger("job", payload))
