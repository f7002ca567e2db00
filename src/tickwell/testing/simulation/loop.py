"""An event loop in virtual time: nothing waits, and chance decides what runs first."""

from __future__ import annotations

import asyncio
import contextvars
import selectors
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any


class Deadlock(AssertionError):
    """Nothing is ready and nothing is to come: the simulated system stands still for good."""


class Process:
    """What the loop knows of a simulated process: whether its callbacks run, wait, or never run."""

    def __init__(self, name: str) -> None:
        self.name = name
        #: Killed: whatever it had scheduled is dropped. Unlike a cancellation, no `finally` runs.
        self.gone = False
        #: Stopped like a process by SIGSTOP: its callbacks are parked until it goes on.
        self.asleep = False
        self.parked: list[_Guarded] = []
        #: The virtual instant until which it had reason to be silent: a pause, a slow line.
        self.troubled_at = float("-inf")


#: Whose callback it is: every task of a process carries it in its context.
PROCESS: contextvars.ContextVar[Process | None] = contextvars.ContextVar("process", default=None)


class _Guarded:
    """A callback of a process, which runs only if the process does."""

    __slots__ = ("args", "callback", "handle", "process")

    def __init__(
        self, process: Process, callback: Callable[..., object], args: tuple[Any, ...]
    ) -> None:
        self.process = process
        self.callback = callback
        self.args = args
        self.handle: asyncio.Handle | None = None

    def __call__(self) -> None:
        process = self.process
        if process.gone or (self.handle is not None and self.handle.cancelled()):
            return
        if process.asleep:
            process.parked.append(self)
            return
        self.callback(*self.args)


class _VirtualSelector(selectors.SelectSelector):
    """Waiting for the network is what moves time."""

    loop: SimLoop

    def select(self, timeout: float | None = None) -> list[Any]:
        if timeout is None:
            raise Deadlock("nothing is ready and nothing is to come")
        self.loop.elapsed += max(timeout, 0.0)
        return []


class SimLoop(asyncio.SelectorEventLoop):
    """Ready callbacks are shuffled before each round, by a seeded generator."""

    _ready: deque[asyncio.Handle]

    def __init__(self, random: Random) -> None:
        selector = _VirtualSelector()
        selector.loop = self
        self.elapsed = 0.0
        self._random = random
        super().__init__(selector)
        #: Kept to the end: collecting the task of a killed process would run its `finally` blocks.
        self.tasks: list[asyncio.Task[Any]] = []
        self.set_task_factory(self._make_task)

    def _make_task(
        self, _: asyncio.AbstractEventLoop, work: Any, **options: Any
    ) -> asyncio.Task[Any]:
        task: asyncio.Task[Any] = asyncio.Task(work, loop=self, **options)
        if PROCESS.get() is not None:
            self.tasks.append(task)
        return task

    def time(self) -> float:
        return self.elapsed

    def _run_once(self) -> None:
        if len(self._ready) > 1:
            shuffled = list(self._ready)
            self._random.shuffle(shuffled)
            self._ready.clear()
            self._ready.extend(shuffled)
        super()._run_once()  # type: ignore[misc]

    def call_soon(  # type: ignore[override]
        self,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.Handle:
        process = PROCESS.get() if context is None else context.get(PROCESS)
        if process is None:
            return super().call_soon(callback, *args, context=context)
        guarded = _Guarded(process, callback, args)
        guarded.handle = super().call_soon(guarded, context=context)
        return guarded.handle

    def call_at(  # type: ignore[override]
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: contextvars.Context | None = None,
    ) -> asyncio.TimerHandle:
        process = PROCESS.get() if context is None else context.get(PROCESS)
        if process is None:
            return super().call_at(when, callback, *args, context=context)
        guarded = _Guarded(process, callback, args)
        timer = super().call_at(when, guarded, context=context)
        guarded.handle = timer
        return timer

    def resume(self, process: Process) -> None:
        """Let a process go on where it stood: all that was parked is ready now."""
        process.asleep = False
        parked, process.parked = process.parked, []
        for guarded in parked:
            if guarded.handle is not None:
                # In its own context, and not guarded twice.
                context = guarded.handle._context  # type: ignore[attr-defined]  # noqa: SLF001
                super().call_soon(guarded, context=context)


def context_of(process: Process) -> contextvars.Context:
    """A context for the tasks of a process."""
    context = contextvars.Context()
    context.run(PROCESS.set, process)
    return context
