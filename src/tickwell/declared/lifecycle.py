"""The life of a scheduler in one process: open, start, stop, once each, in one event loop."""

from __future__ import annotations

import asyncio
import multiprocessing
import os
import signal
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any
from weakref import WeakSet

from tickwell.clock import Clock
from tickwell.declared.hooks import Hooks
from tickwell.declared.owner_loop import OwnerLoop
from tickwell.declared.signals import Repeats, end_by
from tickwell.errors import NotRunning
from tickwell.executors.handlers import CHILD_NAME
from tickwell.ports.store import Store

if TYPE_CHECKING:
    from tickwell.engine.engine import Engine

#: What a scheduler does here unless it is told otherwise.
BOTH = frozenset({"planner", "worker"})
#: Seconds that the store's time is trusted where no engine reads it again.
STALE = 10.0
#: Seconds to close a store whose event loop has ended; its connections may never reply.
ABANDON = 2.0
_ALL: WeakSet[Lifecycle] = WeakSet()


class Lifecycle:
    """Opens the store, builds and drains the engine."""

    def __init__(self, store: Store, clock: Clock, hooks: Hooks, owner: OwnerLoop) -> None:
        self.store = store
        self.clock = clock
        self.hooks = hooks
        self.owner = owner
        self.engine: Engine | None = None
        self.opened = False
        #: The event loop that everything lives in, once the store is open.
        self.loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        #: Called in a forked child, where something else may stand in for the store.
        self.on_fork: Callable[[], None] = lambda: None
        #: Awaited once the store is open, before an engine is made.
        self.prepare: Callable[[], Awaitable[None]] = _nothing
        self._changing = asyncio.Lock()
        self._stopping: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        _ALL.add(self)

    async def open(self) -> None:
        """Open the store without running anything."""
        await self._settle_in()
        if not self.opened:
            async with self._changing:
                await self._open()
        elif self.engine is None and self.clock.sample_age() > STALE:
            await self._sample()  # nobody beats here, and the store's clock may have been set

    async def _open(self) -> None:
        if self.opened:  # by another task, while this one waited
            return
        await self.store.open()
        try:
            await self._sample()
        except (Exception, asyncio.CancelledError):
            await self.store.close()
            raise
        self.opened = True

    async def _sample(self) -> None:
        sent = self.clock.monotonic()
        self.clock.sample(await self.store.ping(), sent, self.clock.monotonic())

    async def start(self, make: Callable[[], Awaitable[Engine]]) -> None:
        """Open the store and set an engine going, unless one runs."""
        if multiprocessing.current_process().name.startswith(CHILD_NAME):
            raise NotRunning(
                "the child process of an isolated handler imported a module that starts a"
                ' scheduler; put the start under: if __name__ == "__main__":'
            )
        await self.open()
        async with self._changing:
            if self.engine is None:
                await self.prepare()
                engine = await make()
                await engine.start()
                self.engine = engine

    async def stop(self) -> None:
        """Drain and close. It goes on when the caller is cancelled, which may be a handler."""
        await self._settle_in()
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop())
        await asyncio.shield(self._stopping)

    async def _stop(self) -> None:
        try:
            async with self._changing:
                if self.engine is not None:
                    await self.engine.stop()
                    self.engine = None
                await self.hooks.settle()
                if self.opened:
                    self.opened = False
                    await self.store.close()
                self.loop = self.hooks.loop = None
                self.owner.release()
        finally:
            self._stopping = None

    def spawn(self, work: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Do something in the background; in the scheduler's own event loop."""
        task = asyncio.ensure_future(work())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _settle_in(self) -> None:
        """Live in this event loop, the owner; of one that ended nothing can be used any more."""
        here = asyncio.get_running_loop()
        if self.loop is here:
            return
        was_open, engine, self.opened = self.opened, self.engine, False
        self.loop, self._thread = here, threading.get_ident()
        self.hooks.settle_in()
        self._changing, self._stopping, self.engine = asyncio.Lock(), None, None
        if was_open:
            async with self._changing:
                await self._abandon(engine)

    async def _abandon(self, engine: Engine | None) -> None:
        """Close what a loop that ended without `stop()` left open, as far as that still works."""
        if engine is not None:  # its heartbeat would keep attempts alive that no worker runs
            await engine.end_pulse_thread()
        with suppress(Exception):
            async with asyncio.timeout(ABANDON):
                await self.store.close()

    def fork(self) -> None:
        """Connections, threads and loops stay with the parent: say so instead of hanging."""
        if (
            self.engine is not None
            and self.loop is not None
            and self._thread == threading.get_ident()
        ):
            # A handler forked in the loop. Run by two, it would be lost for the parent: the copy
            # ends where it comes back to it.
            self.loop.call_soon(os._exit, 0)
            ready = getattr(self.loop, "_ready", None)
            if ready is not None:  # uvloop does not show its own
                # First of all: what was due here is due in the parent too. An engine's step logged
                # that its store is not open, and another handler would have begun twice.
                ready.rotate(1)
        if self.opened or self._changing.locked():  # open, or being opened or closed
            self.store = Forked(os.getppid())
        self.opened, self.engine, self.loop, self._changing = False, None, None, asyncio.Lock()
        self.on_fork()


class Forked:
    """Stands in for the store in a child that was forked from a process that had opened it."""

    name = "forked"

    def __init__(self, parent: int) -> None:
        self._parent = parent

    def __getattr__(self, call: str) -> Any:
        raise NotRunning(
            f"this process was forked from process {self._parent}, which had opened the"
            " scheduler; open it only after the fork, or call scheduler.after_fork() in the child"
            " first"
        )


def _after_fork() -> None:
    for lifecycle in list(_ALL):
        lifecycle.fork()


os.register_at_fork(after_in_child=_after_fork)


@asynccontextmanager
async def until_signal() -> AsyncIterator[asyncio.Event]:
    """An event for SIGTERM and SIGINT; asked again, the process ends at once, others recover."""
    stopping, repeats = asyncio.Event(), Repeats()
    loop = asyncio.get_running_loop()

    def stop(number: signal.Signals) -> None:
        if repeats.hear():
            end_by(number)
        stopping.set()

    if threading.current_thread() is not threading.main_thread():
        raise NotRunning(
            "run() and serve() wait for a signal, which only the main thread of a process gets; in"
            " another thread use start() and stop(), or start_in_background()"
        )
    for number in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(number, stop, number)
    try:
        yield stopping
    finally:
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.remove_signal_handler(number)


async def _nothing() -> None:
    """Nothing is to be prepared."""
