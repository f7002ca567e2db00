"""Celery workers and a planner on one store and one broker, as processes under test."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.processes.child import Child, Family, until
from tests.processes.site import FAST, Site
from tests.processes.start import ROOT
from tickwell.brokers.celery import CeleryBroker
from tickwell.domain.worker import Worker
from tickwell.ports.broker import Hint

#: No chatter between workers: a test has few, and its broker comes and goes.
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat", "-l", "WARNING")


class CeleryWorker:
    """One main process of Celery with the processes of its pool."""

    def __init__(self, site: Site, broker: str, name: str, pool: str, many: int, **more: Any):
        settings = FAST | {"broker": broker} | more
        environment = os.environ | {
            "TICKWELL_TEST_CALLS": str(site.calls),
            "TICKWELL_TEST_SETTINGS": json.dumps(settings),
            "TICKWELL_TEST_STORE": site.store,
        }
        command = [sys.executable, "-m", "celery", "-A", "tests.celery.app", "worker"]
        command += ["-P", pool, "-c", str(many), "-n", f"{name}@%h", *QUIET]
        self.site, self.name, self.many = site, name, 1 if pool != "prefork" else many
        self.process = subprocess.Popen(command, cwd=ROOT, env=environment)

    def rows(self) -> list[Worker]:
        """What the store knows of it: a row for each process of the pool."""
        workers = [each.worker for each in self.site.workers()]
        return [each for each in workers if each.id.startswith(f"{self.name}@")]

    def wait_until_ready(self, without: tuple[int, ...] = ()) -> list[int]:
        """The ids of its processes, once all of them beat."""

        def beating() -> list[int]:
            assert self.process.poll() is None, "the Celery worker has ended"
            pids = [each.pid for each in self.rows() if each.pid not in without]
            return pids if len(pids) >= self.many else []

        found: list[int] = until(beating, what=f"{self.name} to be ready")
        return found

    def stop(self) -> int:
        """SIGTERM, which lets attempts end; the exit code."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(300)

    def kill(self) -> None:
        """-9; Celery's children end with their parent."""
        self.process.kill()
        self.process.wait()


class Crew:
    """A planner that dispatches, and the workers."""

    def __init__(self, site: Site, broker: str, processes: Family) -> None:
        self.site, self.broker, self.processes = site, broker, processes
        self.workers: list[CeleryWorker] = []

    def planner(self, **settings: Any) -> Child:
        """Started, which is soon."""
        chosen = {"engine": "celery", "broker": self.broker, **settings}
        return self.processes.agent(self.site.orders(settings=chosen, roles=["planner"]))

    def worker(self, pool: str = "prefork", many: int = 2, **settings: Any) -> CeleryWorker:
        """Started, and not ready yet."""
        name = f"w{len(self.workers)}"
        self.workers.append(CeleryWorker(self.site, self.broker, name, pool, many, **settings))
        return self.workers[-1]

    def send(self, *ids: str) -> None:
        """Messages, as the dispatcher sends them."""

        async def send() -> None:
            broker = CeleryBroker(self.broker)
            await broker.depths(["default"])
            await broker.send([Hint("default", id) for id in ids])
            broker.close()

        asyncio.run(send())

    def depth(self) -> int:
        async def ask() -> int:
            broker = CeleryBroker(self.broker)
            [depth] = await broker.depths(["default"])
            broker.close()
            return depth

        return asyncio.run(ask())

    def close(self) -> None:
        for worker in self.workers:
            if worker.process.poll() is None:
                worker.process.send_signal(signal.SIGCONT)
                worker.kill()


@contextmanager
def crew_on(site: Site, broker: str, processes: Family) -> Iterator[Crew]:
    crew = Crew(site, broker, processes)
    try:
        yield crew
    finally:
        crew.close()
