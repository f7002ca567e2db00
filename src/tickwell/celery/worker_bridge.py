"""Runs the engine inside a Celery worker: in a thread of each process of the pool."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from celery import signals

from tickwell.brokers.celery import PREFIX
from tickwell.declared.internals import internals
from tickwell.engine.hints.hint_worker import HintInbox
from tickwell.engine.loop import backoff
from tickwell.log import events as lines
from tickwell.scheduler import Scheduler
from tickwell.wiring import have_for_ourselves, loop_factory

if TYPE_CHECKING:
    from celery import Celery

#: Pools that replace threads: the engine's event loop needs a real one.
REFUSED = ("eventlet", "gevent")
#: Seconds beyond the drain timeout that the engine gets to end with its process.
PATIENCE = 15.0


#: Starts sending spans; what it returns ends that.
StartTraces = Callable[[], Callable[[], None]]


def no_traces() -> Callable[[], None]:
    """The application sets up its own."""
    return lambda: None


class CeleryThread:
    """A thread of Celery's pool while it waits for executions: sync handlers run in it."""

    def __init__(self) -> None:
        self._calls: SimpleQueue[Callable[[], object] | None] = SimpleQueue()

    def call(self, function: Callable[[], object]) -> None:
        """Call a function in the waiting thread."""
        self._calls.put(function)

    def release(self) -> None:
        """Let the thread go on."""
        self._calls.put(None)

    def wait(self) -> None:
        """Run what is to be called, until released."""
        while (function := self._calls.get()) is not None:
            function()


class WorkerBridge:
    """Connects the signals and messages of a Celery worker to a scheduler in the same process."""

    def __init__(self, scheduler: Scheduler, start_traces: StartTraces = no_traces) -> None:
        self.scheduler = scheduler
        #: Called in each process that runs executions: threads of an exporter survive no fork.
        self._start_traces = start_traces
        self.inbox = HintInbox("celery", 1)
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._ready = threading.Event()
        #: Whether this process works for our app, not for another app of the same module.
        self._is_ours = False
        self._main_pid = 0
        #: Its end of file tells all processes of the pool that the worker shuts down: only the
        #: main process gets Celery's signal, and it waits for tasks that wait for the store.
        self._shutdown_pipe: tuple[int, int] | None = None

    def connect(self, app: Celery) -> None:
        """Start and stop with the processes of this app's workers."""
        self.app = app
        for signal, receiver in self.receivers():
            signal.connect(receiver, weak=False)

    def receivers(self) -> list[tuple[Any, Callable[..., None]]]:
        """Celery's signals, and what each of them calls."""
        return [
            (signals.worker_init, self._on_worker),
            (signals.worker_process_init, self._on_process),
            (signals.worker_shutting_down, self._on_shutdown),
            (signals.worker_process_shutdown, self._on_end),
            (signals.worker_shutdown, self._on_end),
        ]

    def run(self, id: str) -> None:
        """Claim the execution and run it, then what else is due; return when nothing is left.

        It also returns after a second. Celery acknowledges the message then: after the claim,
        never before.
        """
        self._ready.wait()
        if self._loop is None:
            return
        thread = CeleryThread()
        try:
            self._loop.call_soon_threadsafe(self.inbox.add, id, thread)
        except RuntimeError:
            return  # the engine has ended: the execution is still queued
        thread.wait()

    def _on_worker(self, sender: Any, **_: Any) -> None:
        """In the main process, before it forks."""
        self._is_ours = sender.app is self.app
        if not self._is_ours:
            return
        pool = _name_of(sender.pool_cls)
        if pool in REFUSED:
            raise SystemExit(
                f"tickwell: the {pool} pool has no thread for heartbeats, so it would lose its"
                " leases; start the worker with --pool prefork or --pool threads"
            )
        queues = tuple(
            name.removeprefix(PREFIX)
            for name in sender.app.amqp.queues.consume_from
            if name.startswith(PREFIX)
        )
        self.inbox.name = sender.hostname
        if pool == "threads":
            # Where Celery is to choose, the number is not known yet: it takes that of the cores.
            chosen = isinstance(sender.concurrency, int)
            self.inbox.capacity = sender.concurrency if chosen else os.cpu_count() or 1
        settings = self.scheduler.settings
        internals(self.scheduler).settings = replace(
            settings,
            queues=queues or settings.queues,
            capacity=max(settings.capacity, self.inbox.capacity),
            threads=max(settings.threads, self.inbox.capacity),
        )
        internals(self.scheduler).move_to(settings.store)
        self._main_pid, self._shutdown_pipe = os.getpid(), os.pipe()
        if pool == "threads":  # no process of its own will start it
            self._start()

    def _on_shutdown(self, **_: Any) -> None:
        """In the main process: no process of the pool is to claim anything more."""
        self._close_shutdown_pipe()

    def _on_process(self, sender: Any, **_: Any) -> None:
        """In a process of the pool, which Celery expects to be up within four seconds."""
        if not self._is_ours:
            return
        if os.getpid() != self._main_pid:
            self._close_shutdown_pipe()
        if sender:
            self.inbox.name = sender
        self._start()

    def _start(self) -> None:
        have_for_ourselves()  # an attempt goes through several threads, which wait for each other
        self._ready.clear()
        self.inbox.open()
        internals(self.scheduler).inbox = self.inbox
        self._thread = threading.Thread(target=self._main, name="tickwell-engine", daemon=True)
        self._thread.start()

    def _on_end(self, **_: Any) -> None:
        """Write the outcomes of attempts and sign off."""
        thread, self._thread = self._thread, None
        if thread is None or self._loop is None or self._stopping is None:
            return
        with suppress(RuntimeError):  # it has ended
            self._loop.call_soon_threadsafe(self._stopping.set)
        thread.join(self.scheduler.settings.drain_timeout + PATIENCE)

    def _main(self) -> None:
        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(self._live())

    async def _live(self) -> None:
        stop_traces = self._start_traces()  # before metrics are made, whose exemplars name traces
        try:
            self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
            if self._shutdown_pipe is not None:
                self._loop.add_reader(self._shutdown_pipe[0], self._close_inbox)
            if self.scheduler.settings.metrics and self.scheduler.settings.metrics_dir:
                # Nothing listens here: a `tickwell serve` with the same folder shows the counts.
                self.scheduler.metrics()
            await self._start_engine(self._stopping)
            self._ready.set()
            await self._stopping.wait()
            await self.scheduler.stop()
        finally:  # whatever ends the engine, no thread of Celery waits for it
            self.inbox.end()
            self._ready.set()
            stop_traces()

    def _close_shutdown_pipe(self) -> None:
        """Close the writing end in this process."""
        if self._shutdown_pipe is not None and self._shutdown_pipe[1] >= 0:
            os.close(self._shutdown_pipe[1])
            self._shutdown_pipe = self._shutdown_pipe[0], -1

    def _close_inbox(self) -> None:
        if self._loop is not None and self._shutdown_pipe is not None:
            self._loop.remove_reader(self._shutdown_pipe[0])
        self.inbox.close()
        self._ready.set()  # without an engine, messages are not claimed either

    async def _start_engine(self, stopping: asyncio.Event) -> None:
        """Until the store answers: messages wait, and are not acknowledged."""
        failures, last_error = 0, ""
        while not stopping.is_set():
            try:
                await self.scheduler.start({"worker"})
            except Exception as error:  # noqa: BLE001 - without an engine all messages would wait
                failures += 1
                if str(error) != last_error:
                    last_error = str(error)
                    lines.ENGINE_START_FAILED.log(error=last_error or type(error).__name__)
                with suppress(TimeoutError):
                    async with asyncio.timeout(backoff(failures, "engine")):
                        await stopping.wait()
            else:
                if failures:
                    lines.ENGINE_START_RECOVERED.log(failures=failures)
                return


def _name_of(pool: Any) -> str:
    """As `--pool` names it, of a class or of the name of one."""
    path = pool if isinstance(pool, str) else pool.__module__
    name = path.partition(":")[0].rpartition(".")[2]
    return "threads" if name == "thread" else name
