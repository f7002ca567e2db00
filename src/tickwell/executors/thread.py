"""Plain functions in threads, which can be asked to stop and never be made to."""

from __future__ import annotations

import asyncio
import contextvars
import os
import threading
from collections.abc import Callable
from typing import Any

from tickwell.executors.results import represented

#: Lets a thread make a call; does not wait for its end.
StartCall = Callable[[Callable[[], object]], object]


def start_thread(
    name: str, function: Callable[[], Any], start: StartCall | None = None
) -> asyncio.Future[Any]:
    """Call a function in a daemon thread, so that one that hangs cannot keep the process.

    With `start` it is called in the thread that this reaches, and none is made.
    """
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()
    context, pid = contextvars.copy_context(), os.getpid()

    def call() -> None:
        try:
            try:
                result = context.run(function)
            finally:
                end_copies(pid)
        except BaseException as error:  # noqa: BLE001 - SystemExit in a thread is a failure too
            # A future takes no StopIteration, and what is no Exception would end the loop.
            fit = isinstance(error, Exception) and not isinstance(error, StopIteration)
            failure = error if fit else RuntimeError(represented(error))
            _hand_over(loop, done, done.set_exception, failure)
        else:
            _hand_over(loop, done, done.set_result, result)

    if start is None:
        threading.Thread(target=call, name=f"tickwell-{name}", daemon=True).start()
    else:
        start(call)
    return done


def end_copies(pid: int) -> None:
    """End a process that a handler forked off and let come back: the worker goes on here only."""
    if os.getpid() != pid:
        os._exit(0)


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
