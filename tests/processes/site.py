"""The place of a fault run: a store, a journal of calls, and what ought to have happened."""

import asyncio
import signal
import sqlite3
import time
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any, TypeVar

from tests.faults.checker import check, summary
from tests.faults.history import History
from tests.processes import journal
from tests.processes.agent import Orders
from tests.processes.child import PATIENCE, Child, state_of, until
from tests.processes.jobs import add_jobs, uuid_of
from tests.processes.reading import all_executions, is_quiet, read_history
from tickwell.domain.execution import Execution
from tickwell.domain.job import Job
from tickwell.domain.worker import Liveness
from tickwell.ports.records import ExecutionFilter
from tickwell.wiring import make_store

T = TypeVar("T")

#: Everything is soon noticed, and no lease ends because the machine is busy.
FAST = {"lease": "30s", "beat": "400ms", "sweep": "300ms", "poll": "500ms", "drain_timeout": "5s"}
#: A lease whose end somebody waits for: where a process stands still, or cannot beat.
SHORT = {"lease": "5s"}
#: A lease that nobody lives to see the end of.
NEVER = {"lease": "1h"}
#: Leases as in production, where a busy machine and no loss is the point.
STEADY = {"lease": "30s", "beat": "10s", "sweep": "5s", "poll": "5s"}


class Site:
    """Everything that a test knows besides its processes."""

    def __init__(self, folder: Path, store: str | None = None) -> None:
        self.folder = folder
        #: A file, unless it is told another.
        self.store = store or f"sqlite:///{folder / 'jobs.db'}"
        #: How its processes reach the store, where something stands in between.
        self.way = self.store
        self.calls = folder / "calls"
        self.fires: dict[str, list[int]] = {}
        self.requests: tuple[str, ...] = ()
        #: Its jobs are webhooks, and the calls are noted by their receiver.
        self.by_request = False

    @property
    def expected(self) -> int:
        """Fire times and requests in all."""
        return sum(map(len, self.fires.values())) + len(self.requests)

    def orders(self, **more: Any) -> Orders:
        settings = FAST | more.pop("settings", {})
        return Orders(self.way, str(self.calls), settings=settings, **more)

    def ask(self, question: Callable[[Any], Awaitable[T]]) -> T:
        """Ask the store something, as yet another process would."""

        async def answer() -> T:
            store = make_store(self.store)
            await store.open()
            try:
                return await question(store)
            finally:
                await store.close()

        return asyncio.run(answer())

    def freeze(self, child: Child) -> None:
        """SIGSTOP, at a moment when the process is in no transaction of its file.

        A process frozen inside one keeps the file locked for as long as it is frozen; servers end
        such transactions by themselves.
        """
        path = self.folder / "jobs.db" if self.store.startswith("sqlite:") else ":memory:"
        with closing(sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)) as file:
            file.execute("BEGIN IMMEDIATE")
            child.send(signal.SIGSTOP)
            until(lambda: state_of(child.pid) == "T", what="frozen")
            file.execute("ROLLBACK")

    def add(self, *jobs: Job, fires: dict[str, list[int]]) -> None:
        """Jobs, and the fire times that they must be found to have had."""
        self.fires |= fires
        # As of when they were made: what comes due meanwhile is still to come.
        self.ask(lambda store: add_jobs(store, jobs, jobs[0].created_at))

    def begun(self) -> list[journal.Line]:
        return [line for line in journal.read(self.calls) if line.what == "begin"]

    def wait_for_calls(self, count: int, seconds: float = PATIENCE) -> None:
        until(lambda: len(self.begun()) >= count, seconds, f"{count} calls")

    def wait_until_quiet(self, seconds: float = PATIENCE, expected: int | None = None) -> None:
        """Until every execution has ended; the deadline is a bound on liveness."""
        wanted = self.expected if expected is None else expected

        async def quiet(store: Any) -> None:
            end = time.monotonic() + seconds
            while not await is_quiet(store, wanted):
                stats = await store.stats()
                assert time.monotonic() < end, f"not quiet after {seconds} s: {stats}"
                await asyncio.sleep(0.05)

        self.ask(quiet)

    def history(self) -> History:
        history = self.ask(lambda store: read_history(store, self.fires, self.calls, self.requests))
        history.by_request = self.by_request
        return history

    def judge(self) -> History:
        """The history, if nothing is wrong with it."""
        history = self.history()
        violations = check(history)
        assert not violations, summary(violations)
        return history

    def executions(self, job: str | None = None) -> list[Execution]:
        where = ExecutionFilter(job_id=job and uuid_of(job))
        return self.ask(lambda store: all_executions(store, where))

    def workers(self) -> list[Liveness]:
        """Those that nobody has declared lost."""
        known: list[Liveness] = self.ask(lambda store: store.list_workers())
        return [each for each in known if each.worker.is_worker and not each.lost]

    def execution(self, job: str) -> Execution:
        """The only execution of a job, with its attempts."""

        async def read(store: Any) -> Execution:
            where = ExecutionFilter(job_id=uuid_of(job))
            [found] = await all_executions(store, where)
            whole: Execution = await store.get_execution(found.project, found.id)
            return whole

        return self.ask(read)
