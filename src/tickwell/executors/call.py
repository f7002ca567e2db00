"""The executor of `Call`: async handlers in the event loop, sync ones in threads."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
import threading
import traceback
from collections.abc import Callable, Mapping
from typing import Any

from tickwell.domain.execution import Claim, OutcomeKind
from tickwell.domain.outcome import Outcome
from tickwell.domain.target import Call
from tickwell.errors import InvalidPayload, UnknownHandler
from tickwell.executors.handlers import Handler, Handlers
from tickwell.executors.run import Run
from tickwell.ports.executor import Sort

#: Characters kept of an error or a result.
ERROR_LIMIT = 4_000
RESULT_LIMIT = 64_000


class CallExecutor:
    """Runs registered handlers."""

    def __init__(self, handlers: Handlers) -> None:
        self.handlers = handlers
        self._closed = False

    def abilities(self) -> Mapping[Sort, frozenset[str]]:
        by_sort: dict[Sort, set[str]] = {Sort.TASK: set(), Sort.THREAD: set()}
        for handler in self.handlers.all():
            sort = Sort.TASK if handler.is_async else Sort.THREAD
            by_sort[sort].add(Call(handler.name).ability)
        return {sort: frozenset(names) for sort, names in by_sort.items()}

    async def run(self, claim: Claim) -> Outcome:
        try:
            handler = self.handlers.get(claim.job.target.ability.removeprefix("call:"))
            arguments = handler.arguments(claim.payload)
        except (UnknownHandler, InvalidPayload) as error:
            return Outcome(kind=OutcomeKind.FAILED, error=str(error), retry=False)
        run = None
        if handler.run_parameter:
            run = arguments[handler.run_parameter] = Run(claim)
        try:
            if handler.is_async:
                result = await handler.function(**arguments)
            else:
                result = await self._in_thread(handler, arguments, run)
            if inspect.isawaitable(result):
                result = await result  # an async function behind a plain decorator
        except (asyncio.CancelledError, KeyboardInterrupt):
            raise
        # Whatever a handler raises is a failed attempt; its exit is not the process's.
        except BaseException as error:  # noqa: BLE001
            return Outcome(kind=OutcomeKind.FAILED, error=describe(error))
        return Outcome(
            kind=OutcomeKind.SUCCEEDED, result=None if result is None else keepable(result)
        )

    async def close(self) -> None:
        """Wait no longer for threads: they end with the process."""
        self._closed = True

    async def _in_thread(self, handler: Handler, arguments: dict[str, Any], run: Run | None) -> Any:
        """Wait for a sync handler in a thread, which cannot be stopped.

        A cancellation is passed on as `run.cancelled`, and the slot stays taken until the thread
        ends; only when the process stops is it left alone.
        """
        done = _start_thread(handler, arguments)
        while True:
            try:
                return await asyncio.shield(done)
            except asyncio.CancelledError:
                if done.cancelled() or self._closed:
                    raise
                if run is not None:
                    run.cancel()


def _start_thread(handler: Handler, arguments: dict[str, Any]) -> asyncio.Future[Any]:
    """Call a handler in a daemon thread, so that one that hangs cannot keep the process."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()
    context = contextvars.copy_context()

    def call() -> None:
        try:
            result = context.run(handler.function, **arguments)
        except BaseException as error:  # noqa: BLE001 - SystemExit in a thread is a failure too
            # A future takes no StopIteration, and what is no Exception would end the loop.
            fit = isinstance(error, Exception) and not isinstance(error, StopIteration)
            failure = error if fit else RuntimeError(_in_words(error))
            _hand_over(loop, done, done.set_exception, failure)
        else:
            _hand_over(loop, done, done.set_result, result)

    threading.Thread(target=call, name=f"tickwell-{handler.name}", daemon=True).start()
    return done


def _hand_over(
    loop: asyncio.AbstractEventLoop,
    done: asyncio.Future[Any],
    setter: Callable[[Any], None],
    value: Any,
) -> None:
    def resolve() -> None:
        if not done.done():
            setter(value)

    try:
        loop.call_soon_threadsafe(resolve)
    except RuntimeError:
        return  # the loop is closed: the process stopped without waiting for this thread


def describe(error: BaseException) -> str:
    """The end of a traceback, where the cause stands."""
    text = "".join(traceback.format_exception(error)).rstrip()
    return text if len(text) <= ERROR_LIMIT else "…" + text[-ERROR_LIMIT:]


def keepable(result: Any) -> Any:
    """A result as JSON, or its beginning as text when it is none or too large."""
    try:
        text = json.dumps(result, allow_nan=False)
    except (TypeError, ValueError, RecursionError):
        return _in_words(result)[:RESULT_LIMIT]
    return json.loads(text) if len(text) <= RESULT_LIMIT else text[:RESULT_LIMIT]


def _in_words(result: Any) -> str:
    try:
        return repr(result)
    except Exception:  # noqa: BLE001 - what a handler returns must not turn success into failure
        return f"<{type(result).__name__}>"
