"""The engine inside a Celery worker: a thread with an event loop, in each process of the pool."""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from contextlib import suppress
from dataclasses import replace
from queue import SimpleQueue
from typing import TYPE_CHECKING, Any

from celery import signals

from tickwell.brokers.celery import PREFIX
from tickwell.engine.hinted import Hints
from tickwell.engine.loop import backoff
from tickwell.scheduler import Scheduler
from tickwell.wiring import have_for_ourselves, loop_factory

if TYPE_CHECKING:
    from celery import Celery

logger = logging.getLogger("tickwell")
#: Pools that replace threads, where the engine's event loop would have none.
REFUSED = ("eventlet", "gevent")
#: Seconds beyond the drain timeout that the engine gets to end with its process.
PATIENCE = 15.0


class Hands:
    """Runs what hints name, for as long as its process lives."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.hints = Hints("celery", 1)
        self._thread: threading.Thread | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._ready = threading.Event()
        #: This process works for our app, and not for another that the same module has.
        self._is_ours = False

    def connect(self, app: Celery) -> None:
        """Start and stop with the processes of this app's workers."""
        self._app = app
        signals.worker_init.connect(self._on_worker, weak=False)
        signals.worker_process_init.connect(self._on_process, weak=False)
        signals.worker_process_shutdown.connect(self._on_end, weak=False)
        signals.worker_shutdown.connect(self._on_end, weak=False)

    def run(self, id: str) -> None:
        """Claim the execution and wait for the end of its attempt; if it is not ours, return.

        Celery acknowledges the message then: after the claim, never before.
        """
        self._ready.wait()
        done: SimpleQueue[None] = SimpleQueue()
        if self._loop is None:
            return
        try:
            self._loop.call_soon_threadsafe(self.hints.add, id, lambda: done.put(None))
        except RuntimeError:
            return  # the engine has ended: the execution is still queued
        done.get()

    def _on_worker(self, sender: Any, **_: Any) -> None:
        """In the main process, before it forks."""
        self._is_ours = sender.app is self._app
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
        if str(sender.app.conf.broker_url).startswith("redis"):
            _leave_unacknowledged()
        self.hints.name = sender.hostname
        if pool == "threads":
            # Where Celery is to choose, the number is not known yet: it takes that of the cores.
            chosen = isinstance(sender.concurrency, int)
            self.hints.capacity = sender.concurrency if chosen else os.cpu_count() or 1
        settings = self.scheduler.settings
        self.scheduler.settings = replace(
            settings,
            queues=queues or settings.queues,
            slots=max(settings.slots, self.hints.capacity),
            threads=max(settings.threads, self.hints.capacity),
        )
        self.scheduler.move_to(settings.store)
        if pool == "threads":  # no process of its own will start it
            self._start()

    def _on_process(self, sender: Any, **_: Any) -> None:
        """In a process of the pool; Celery gives it four seconds."""
        if not self._is_ours:
            return
        if sender:
            self.hints.name = sender
        self._start()

    def _start(self) -> None:
        have_for_ourselves()  # an attempt goes through several threads, which wait for each other
        self._ready.clear()
        self.scheduler.hints = self.hints
        self._thread = threading.Thread(target=self._main, name="tickwell-engine", daemon=True)
        self._thread.start()

    def _on_end(self, **_: Any) -> None:
        """Write what attempts report, and say goodbye."""
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
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        await self._start_engine(self._stopping)
        self._ready.set()
        await self._stopping.wait()
        try:
            await self.scheduler.stop()
        finally:
            self.hints.drop()

    async def _start_engine(self, stopping: asyncio.Event) -> None:
        """Until the store answers: messages wait, and are not acknowledged."""
        failures, said = 0, ""
        while not stopping.is_set():
            try:
                await self.scheduler.start({"worker"})
            except Exception as error:  # noqa: BLE001 - without an engine all messages would wait
                failures += 1
                if str(error) != said:
                    said = str(error)
                    logger.warning("engine start failed; retrying: %s", error)
                with suppress(TimeoutError):
                    async with asyncio.timeout(backoff(failures, "engine")):
                        await stopping.wait()
            else:
                if failures:
                    logger.warning("the engine has started after %d failures", failures)
                return


def _leave_unacknowledged() -> None:
    """Do not put hints back that are not acknowledged: the dispatcher sends others.

    With the broker away kombu 5.7 fails at it (it asks a connection that it has closed), and the
    worker ends.
    """
    from kombu.transport.redis import Channel

    Channel.do_restore = False


def _name_of(pool: Any) -> str:
    """As `--pool` names it, of a class or of the name of one."""
    path = pool if isinstance(pool, str) else pool.__module__
    name = path.partition(":")[0].rpartition(".")[2]
    return "threads" if name == "thread" else name
