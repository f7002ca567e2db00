"""Middleware around a handler and its dependencies, plain and async in any order."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any

from tickwell.errors import InvalidInput
from tickwell.executors.around.sides import Stopped, Ways
from tickwell.executors.run import Run, begin_handler

if TYPE_CHECKING:
    from tickwell.executors.handlers import Handler

#: Gets the attempt, and what calls the next middleware or the handler; returns the result.
Middleware = Callable[[Run, Callable[[], Any]], Any]


class Attempt:
    """One call of a handler: what it gets, and how its layers reach loop and threads."""

    __slots__ = ("arguments", "run", "sides")

    def __init__(self, arguments: dict[str, Any], run: Run, sides: Ways) -> None:
        self.arguments = arguments
        self.run = run
        self.sides = sides


Layer = Callable[[Attempt], Any]


class Around:
    """A handler inside all that is around it; made once, not for each attempt."""

    def __init__(self, handler: Handler, middleware: Sequence[Middleware]) -> None:
        self._call: Layer = _begun(_innermost(handler))
        self._is_async = handler.is_async
        #: In a process of its own: whether it takes an event loop.
        self.needs_loop = self._is_async or bool(
            handler.dependencies and handler.dependencies.is_async
        )
        #: Whether an async handler needs a thread, for plain middleware.
        self.needs_thread = False
        for each in reversed(middleware):
            self._wrap(each)

    def _wrap(self, middleware: Middleware) -> None:
        if _is_async(middleware):
            inner = self._call if self._is_async else _threaded(self._call)
            self._call, self._is_async, self.needs_loop = _layer(middleware, inner), True, True
        elif self._is_async:
            self._call = _threaded(_layer(middleware, _waited(self._call)), is_handler=False)
            self.needs_thread = True
        else:
            self._call = _layer(middleware, self._call)

    def call_here(self, attempt: Attempt) -> Any:
        """Make the attempt in this thread, where all is plain."""
        return self._call(attempt)

    async def call(self, attempt: Attempt) -> Any:
        """Make the attempt, from the event loop."""
        return await (self._call if self._is_async else _threaded(self._call))(attempt)


def around_of(handler: Handler, middleware: Sequence[Middleware]) -> Around | None:
    """What is around a handler; None if there is nothing, which costs nothing then."""
    return Around(handler, middleware) if middleware or handler.dependencies else None


def check_middleware(function: object) -> None:
    """Refuse what cannot be called with a `Run` and `call_next`."""
    try:
        inspect.signature(function).bind(None, None)  # type: ignore[arg-type]
        fits = not inspect.isgeneratorfunction(function) and not inspect.isasyncgenfunction(
            function
        )
    except (TypeError, ValueError):
        fits = False
    if not fits:
        raise InvalidInput(
            f"{function!r} cannot be called with an attempt and what comes next",
            field="middleware",
            hint="Write async def timing(run, call_next): return await call_next()",
        )


def _is_async(function: Any) -> bool:
    called = function if inspect.isroutine(function) else type(function).__call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def _begun(handler: Layer) -> Layer:
    """The handler, whose attempt is told that it is called."""

    def call(attempt: Attempt) -> Any:
        begin_handler(attempt.run)
        return handler(attempt)

    return call


def _innermost(handler: Handler) -> Layer:
    """The handler with its dependencies: plain in a thread, async in the loop."""
    dependencies, function = handler.dependencies, handler.function
    if handler.is_async:
        if dependencies is None:
            return lambda attempt: function(**attempt.arguments)
        return lambda attempt: dependencies.call_async(function, attempt.arguments, attempt.run)

    def call(attempt: Attempt) -> Any:
        settled = functools.partial(_settled, function, attempt.sides)
        if dependencies is None:
            return settled(**attempt.arguments)
        if not dependencies.is_async:
            return dependencies.call(settled, attempt.arguments, attempt.run, _nothing)
        with _Companion(attempt.sides) as wait:
            return dependencies.call(settled, attempt.arguments, attempt.run, wait)

    return call


def _settled(function: Callable[..., Any], sides: Ways, /, **arguments: Any) -> Any:
    """The result of a plain function, which may be a decorator that calls an async one."""
    result = function(**arguments)
    return sides.in_loop(lambda: result) if inspect.isawaitable(result) else result


def _layer(middleware: Middleware, inner: Layer) -> Layer:
    return lambda attempt: middleware(attempt.run, functools.partial(inner, attempt))


def _threaded(inner: Layer, *, is_handler: bool = True) -> Layer:
    """A plain layer, called in a thread and awaited in the loop."""
    return lambda attempt: attempt.sides.in_thread(
        functools.partial(inner, attempt), is_handler=is_handler
    )


def _waited(inner: Layer) -> Layer:
    """An async layer, awaited in the loop and waited for in a thread."""
    return lambda attempt: attempt.sides.in_loop(functools.partial(inner, attempt))


def _nothing(_work: Any) -> Any:
    """No factory is async."""


class _Companion:
    """Awaits in the event loop what async factories of a plain handler need, all in one task.

    An async generator that is entered in one task and left in another breaks cancel scopes.
    """

    _loop: asyncio.AbstractEventLoop
    _queue: asyncio.Queue[tuple[Any, Future[Any]] | None]
    _task: asyncio.Task[None]

    def __init__(self, sides: Ways) -> None:
        self._sides = sides
        #: Something is awaited, and whether it was cancelled because the attempt is to stop.
        self._is_busy = self._was_stopped = False

    def __enter__(self) -> Callable[[Any], Any]:
        self._sides.in_loop(self._begin)
        return self._wait

    def __exit__(self, *_: object) -> None:
        self._tell(None)

    async def _begin(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._queue = asyncio.Queue()
        self._task = self._loop.create_task(self._serve())
        self._sides.when_asked(self._stop)

    def _stop(self) -> None:
        """Cancel what is awaited, as in an async handler; what is closed after that is not."""
        if self._is_busy:
            self._was_stopped = True
            self._task.cancel()

    def _tell(self, item: tuple[Any, Future[Any]] | None) -> None:
        self._loop.call_soon_threadsafe(self._queue.put_nowait, item)

    def _wait(self, work: Any) -> Any:
        answer: Future[Any] = Future()
        self._tell((work, answer))
        return answer.result()

    async def _serve(self) -> None:
        while (item := await self._queue.get()) is not None:
            work, answer = item
            self._is_busy = True
            try:
                answer.set_result(await work)
            except asyncio.CancelledError:
                if self._was_stopped:
                    self._was_stopped = False
                    self._task.uncancel()
                elif self._task.cancelling():  # the event loop ends
                    answer.cancel()
                    raise
                answer.set_exception(Stopped())
            except BaseException as error:  # noqa: BLE001 - it is raised in the thread
                answer.set_exception(error)
            finally:
                self._is_busy = False
