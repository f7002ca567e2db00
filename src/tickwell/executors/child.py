"""The other side of an isolated handler: what runs in its process."""

from __future__ import annotations

import asyncio
import importlib
import inspect
import os
import queue
import signal
import threading
from collections.abc import Awaitable, Callable
from multiprocessing import parent_process
from multiprocessing.connection import Connection, wait
from typing import Any

from tickwell.domain.current import CURRENT_CLAIM
from tickwell.domain.execution import Claim
from tickwell.domain.outcome import Outcome
from tickwell.domain.step import Step, Wait
from tickwell.executors.around.layers import Around, Attempt
from tickwell.executors.around.sides import Sides
from tickwell.executors.handlers import Handler
from tickwell.executors.output import CURRENT, LISTENING, Output
from tickwell.executors.run import Run
from tickwell.executors.span_context import enter_span
from tickwell.executors.words import raised, succeeded

#: A process in which a handler left more than these is not used again: the next one to run in it
#: would pay for them.
MOST_THREADS = 100


def main(line: Connection, begin: Callable[[], object] | None = None) -> None:
    """Run attempts as they are handed over, until the parent hangs up."""
    if begin is not None:
        begin()
    # A terminal and a service manager signal the whole group; the parent decides what ends here.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)
    LISTENING.start()
    ear = Ear(line)
    threading.Thread(target=ear.listen, name="tickwell-ear", daemon=True).start()
    threading.Thread(target=_end_with_parent, name="tickwell-parent", daemon=True).start()
    while True:
        attempt = ear.attempts.get()
        outcome = _perform(attempt, ear)
        if not ear.is_ours():
            os._exit(0)  # the handler forked, and its copy came back as well
        ear.say("ended", outcome, threading.active_count() > MOST_THREADS)


def _end_with_parent() -> None:
    """An orphan's attempt was lost with its worker, and runs again elsewhere."""
    parent = parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)


class Ear:
    """Hears the parent while the handler runs, and speaks to it."""

    def __init__(self, line: Connection) -> None:
        self._line = line
        self._pid = os.getpid()
        self._speaking = threading.Lock()
        self._asking = threading.Lock()
        self.attempts: queue.Queue[_Attempt] = queue.Queue()
        #: Answers of the parent, and what it failed with.
        self.results: queue.Queue[tuple[Any, Exception | None]] = queue.Queue()
        self._attempt: _Attempt | None = None

    def listen(self) -> None:
        """Heed the parent until it hangs up."""
        try:
            while True:
                kind, *parts = self._line.recv()
                if kind == "run":
                    *about, has_middleware = parts
                    self._attempt = _Attempt(*about, has_middleware=has_middleware)
                    self.attempts.put(self._attempt)
                elif kind == "answer":
                    self.results.put((parts[0], parts[1]))
                elif self._attempt is not None:
                    self._attempt.cancel()
        except (EOFError, OSError):
            os._exit(0)

    def is_ours(self) -> bool:
        """Whether this is the process that the parent speaks with, and no copy of it."""
        return os.getpid() == self._pid

    def say(self, *words: Any) -> None:
        """Tell the parent; from any thread. What a copy says would be taken for our answer."""
        if self.is_ours():
            with self._speaking:
                self._line.send(words)

    def progress(self, claim: Claim, fraction: float, message: str) -> None:
        self.say("progress", fraction, message)

    async def last_result(self, claim: Claim) -> Any:
        return self._ask("last_result")

    async def read_steps(self, claim: Claim) -> list[Step]:
        found: list[Step] = self._ask("read_steps")
        return found

    async def write_step(self, claim: Claim, name: str, value: Any, *, is_final: bool) -> None:
        self._ask("write_step", name, value, is_final)

    async def wait_for(self, claim: Claim, name: str, expires: int) -> tuple[Wait, int]:
        found: tuple[Wait, int] = self._ask("wait_for", name, expires)
        return found

    async def answer_url(self, claim: Claim, name: str, expires: int) -> str:
        return str(self._ask("answer_url", name, expires))

    def _ask(self, *words: Any) -> Any:
        """Ask the parent, and wait for its answer; of several threads one after the other."""
        with self._asking:
            self.say(*words)
            answer, error = self.results.get()
        if error is not None:
            raise error
        return answer


class _Attempt:
    """What a request to stop does: a task is cancelled, a plain function looks for itself."""

    def __init__(
        self, module: str, name: str, claim: Claim, span: str | None, *, has_middleware: bool
    ) -> None:
        self.module = module
        self.name = name
        self.claim = claim
        self.span = span
        #: A condition has none.
        self.has_middleware = has_middleware
        #: It may come before the handler is even imported.
        self.asked = False
        self.run: Run | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._task: asyncio.Task[Any] | None = None

    def cancel(self) -> None:
        self.asked = True
        if self.run is not None:
            self.run.cancel()
        if self._loop is not None and self._task is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._task.cancel)

    async def awaited(self, result: Any) -> Any:
        """Wait for an async handler, and stop it when asked."""
        self._loop, self._task = asyncio.get_running_loop(), asyncio.current_task()
        if self.asked and self._task is not None:
            self._task.cancel()
        return await result


def _perform(attempt: _Attempt, ear: Ear) -> Outcome | None:
    """None: it was asked to stop, and did."""
    output = Output(sink=lambda line: ear.say("line", line))
    CURRENT.set(output)
    claim = attempt.claim
    CURRENT_CLAIM.set(claim)
    enter_span(attempt.span)
    try:
        handler = _find(attempt.module, attempt.name)
        arguments = handler.arguments(claim.payload)
        around = handler.around if attempt.has_middleware else handler.bare
        block = asyncio.run if handler.blocks_in(around) else None
        run = attempt.run = Run(claim, ear, block=block)
        if attempt.asked:
            run.cancel()
        if handler.run_parameter:
            arguments[handler.run_parameter] = run
        result = _call(handler, around, arguments, run, attempt)
        if inspect.isawaitable(result):
            result = asyncio.run(attempt.awaited(result))
        return succeeded(result)
    except asyncio.CancelledError:
        return None
    except BaseException as error:  # noqa: BLE001 - whatever a handler raises is a failed attempt
        return raised(error, claim.job.retry)
    finally:
        output.close()


def _call(
    handler: Handler, around: Around | None, arguments: dict[str, Any], run: Run, attempt: _Attempt
) -> Any:
    """What it returns, or what is to be awaited; middleware and dependencies live here as well."""
    if around is None:
        return handler.function(**arguments)
    if not around.needs_loop:
        return around.call_here(Attempt(arguments, run, _Alone(attempt)))

    async def call() -> Any:
        return await around.call(Attempt(arguments, run, Sides(handler.name, run)))

    return call()


class _Alone:
    """All is plain: an event loop is made only for an async function behind a decorator."""

    def __init__(self, attempt: _Attempt) -> None:
        self._attempt = attempt

    def in_thread(self, call: Callable[[], Any], *, is_handler: bool) -> Awaitable[Any]:
        raise AssertionError("nothing around the handler is async")

    def in_loop(self, work: Callable[[], Awaitable[Any]]) -> Any:
        return asyncio.run(self._attempt.awaited(work()))

    def when_asked(self, stop: Callable[[], object]) -> None:
        raise AssertionError("nothing around the handler is async")


def _find(module: str, name: str) -> Handler:
    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    known = getattr(found, "_handler", None)  # decorated: the name holds the declared job
    return known if isinstance(known, Handler) else Handler(name, found)
