"""Threads and the event loop of one attempt, and the ways between them."""

from __future__ import annotations

import asyncio
import functools
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from contextvars import Context, copy_context
from typing import Any, Protocol

from tickwell.errors import InvalidInput
from tickwell.executors.run import Run, Waiting, awaited_in, snoozed_for
from tickwell.executors.thread import StartCall, start_thread


class Stopped(asyncio.CancelledError):
    """In a thread: what it waited for in the event loop was cancelled."""


class _Carried:
    """What ends an attempt on its way out of a thread: no future takes what is no Exception."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


class Thread:
    """A call in a thread, awaited; the thread cannot be stopped, only asked."""

    def __init__(
        self,
        name: str,
        call: Callable[[], Any],
        *,
        ask: Callable[[], object] = lambda: None,
        start: StartCall | None = None,
    ) -> None:
        #: Done once the thread is.
        self.done = start_thread(name, functools.partial(_carried, call), start)
        self._ask = ask

    async def end(self, is_over: Callable[[], bool] = lambda: False) -> Any:
        """Its result; a cancellation is passed on by `ask`, and waits for the end of the thread.

        Only when the process stops, and all `is_over`, is it left alone.
        """
        while True:
            try:
                result = await asyncio.shield(self.done)
            except asyncio.CancelledError:
                if self.done.cancelled() or is_over():
                    raise
                self._ask()
            else:
                if isinstance(result, _Carried):
                    raise result.error
                return result


def _carried(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except Stopped as error:
        return _Carried(error)
    except BaseException as error:
        delay = snoozed_for(error)
        if delay is None:
            raise
        return _Carried(Waiting(delay, awaited_in(error)))


class Ways(Protocol):
    """Ways between the event loop and the threads of one attempt."""

    def in_thread(self, call: Callable[[], Any], *, is_handler: bool) -> Awaitable[Any]:
        """Call a plain function in a thread; cancelled, the attempt is asked to stop."""
        ...

    def in_loop(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """In a thread: wait for what is awaited in the event loop."""
        ...

    def when_asked(self, stop: Callable[[], object]) -> None:
        """In the event loop: have this called when the attempt is asked to stop."""
        ...


class Sides:
    """`Ways` of an attempt in a worker; made in the event loop."""

    def __init__(
        self,
        name: str,
        run: Run,
        *,
        begun: Callable[[asyncio.Future[Any]], object] = lambda _done: None,
        start: Callable[[], StartCall | None] = lambda: None,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self._name = name
        self._run = run
        self._begun = begun
        self._start = start
        self._is_over = is_over
        self._loop = asyncio.get_running_loop()
        self._thread = threading.get_ident()
        self._tasks: set[asyncio.Task[Any]] = set()
        self._stops: list[Callable[[], object]] = []
        self._asked = False

    async def in_thread(self, call: Callable[[], Any], *, is_handler: bool) -> Any:
        """Call a plain function in a thread; cancelled, the attempt is asked to stop."""
        start = self._start() if is_handler else None
        thread = Thread(self._name, call, ask=self._ask_to_stop, start=start)
        self._begun(thread.done)
        return await thread.end(self._is_over)

    def _ask_to_stop(self) -> None:
        if self._asked:
            return  # what waits for another thread in turn was cancelled by this
        self._asked = True
        self._run.cancel()
        for task in self._tasks:
            task.cancel()
        for stop in self._stops:
            stop()

    def when_asked(self, stop: Callable[[], object]) -> None:
        """In the event loop: have this called when the attempt is asked to stop."""
        self._stops.append(stop)

    def in_loop(self, work: Callable[[], Awaitable[Any]]) -> Any:
        """In a thread: wait for what is awaited in the event loop, in the thread's context."""
        if threading.get_ident() == self._thread:  # which would wait for itself, and all with it
            raise InvalidInput(
                "plain middleware called call_next() in the event loop: it returns something to be"
                " awaited, as a plain decorator around an async function does",
                field="middleware",
                hint="Make what is decorated with @scheduler.middleware an async def",
            )
        answer: Future[tuple[Any, BaseException | None]] = Future()
        self._loop.call_soon_threadsafe(self._begin, work, answer, copy_context())
        result, error = answer.result()
        if error is not None:
            raise error
        return result

    def _begin(
        self,
        work: Callable[[], Awaitable[Any]],
        answer: Future[tuple[Any, BaseException | None]],
        context: Context,
    ) -> None:
        task = self._loop.create_task(_caught(work), context=context)
        self._tasks.add(task)
        if self._asked:
            task.cancel()

        def end(task: asyncio.Task[tuple[Any, BaseException | None]]) -> None:
            self._tasks.discard(task)
            answer.set_result((None, Stopped()) if task.cancelled() else task.result())

        task.add_done_callback(end)


async def _caught(work: Callable[[], Awaitable[Any]]) -> tuple[Any, BaseException | None]:
    """The result, or what was raised: a SystemExit in a task would end the event loop."""
    try:
        return await work(), None
    except asyncio.CancelledError:
        raise
    except BaseException as error:  # noqa: BLE001 - it is raised in the thread
        return None, error
