"""The executor of `Call`: async handlers in the event loop, sync ones in threads or processes."""

from __future__ import annotations

import asyncio
import functools
import inspect
import os
import signal
import threading
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import Any

from tickwell.domain.ability import handler_of
from tickwell.domain.current import CURRENT_CLAIM
from tickwell.domain.execution import Claim, OutcomeKind
from tickwell.domain.job import Job
from tickwell.domain.outcome import Outcome
from tickwell.errors import InvalidPayload, NotRunning, UnknownHandler
from tickwell.executors.around.layers import Around, Attempt
from tickwell.executors.around.sides import Sides, Thread
from tickwell.executors.handlers import Handler, Handlers
from tickwell.executors.isolated import Children
from tickwell.executors.notes import NoNotes, StoreNotes
from tickwell.executors.output import CURRENT, LISTENING, Output
from tickwell.executors.run import Run
from tickwell.executors.thread import StartCall, end_copies
from tickwell.executors.words import raised, succeeded
from tickwell.ports.executor import Sort

_STILL_RUNS = (
    "an earlier attempt is still running: a thread cannot be stopped, and this process does not"
    " run the same execution twice at once. Give the job a longer timeout, look at run.cancelled,"
    ' or declare it with isolation="process"'
)


class CallExecutor:
    """Runs registered handlers."""

    def __init__(self, handlers: Handlers, notes: StoreNotes | NoNotes | None = None) -> None:
        self.handlers = handlers
        self.notes = notes or NoNotes()
        self.children = Children(self.notes)
        #: A thread that waits for an execution and can run its sync handler; None: start one.
        self.thread_for: Callable[[Claim], StartCall | None] = lambda _claim: None
        #: Conditions have none: it is around attempts, and may replace their results.
        self.has_middleware = True
        self._begun = False
        self._pid = 0
        self._closed = False
        #: Executions whose thread is running, among them those that ended on record.
        self._threads: dict[str, asyncio.Future[Any]] = {}

    def abilities(self) -> Mapping[Sort, frozenset[str]]:
        by_sort: dict[Sort, set[str]] = {Sort.TASK: set(), Sort.THREAD: set()}
        for handler in self.handlers.all():
            in_loop = not handler.takes_thread and handler.isolation == "none"
            by_sort[Sort.TASK if in_loop else Sort.THREAD].add(self.handlers.ability(handler))
        return {sort: frozenset(names) for sort, names in by_sort.items()}

    async def refusal(self, job: Job) -> str:
        """Nothing keeps a handler from being called here."""
        return ""

    def prepare(self, job: Job) -> None:
        """Handlers are there already."""

    async def run(self, claim: Claim) -> Outcome:
        if not self._begun:
            self._begin()
        try:
            handler = self.handlers.get(handler_of(claim.job.ability), claim.job.project)
            arguments = handler.arguments(claim.payload)
        except (UnknownHandler, InvalidPayload) as error:
            return Outcome(kind=OutcomeKind.FAILED, error=str(error), retry=False)
        output = Output(None, self.notes.on_line, claim)
        CURRENT.set(output)
        CURRENT_CLAIM.set(claim)
        outcome = None
        try:
            if handler.isolation == "process":
                outcome = await self.children.run(
                    handler, claim, output, has_middleware=self.has_middleware
                )
            elif claim.id in self._threads and handler.takes_thread:
                delay = claim.job.timeout.hard
                outcome = Outcome(kind=OutcomeKind.SNOOZED, error=_STILL_RUNS, delay=delay)
            else:
                result = await self._call(handler, arguments, claim)
                if result is not None and inspect.isawaitable(result):
                    result = await result  # an async function behind a plain decorator
                outcome = succeeded(result)
        except asyncio.CancelledError:
            raise
        # Whatever a handler raises is a failed attempt; its exit is not the process's.
        except BaseException as error:
            if isinstance(error, KeyboardInterrupt) and _is_interruptible():
                raise
            outcome = raised(error, claim.job.retry)
        finally:
            if os.getpid() != self._pid:
                end_copies(self._pid)
            self._close(output, outcome)
        return outcome

    def _close(self, output: Output, outcome: Outcome | None) -> None:
        lines = output.close()
        if lines:
            failed = outcome is None or outcome.kind is not OutcomeKind.SUCCEEDED
            self.notes.keep_output(output, lines, failed=failed)

    def _call(self, handler: Handler, arguments: dict[str, Any], claim: Claim) -> Awaitable[Any]:
        """What to wait for; no coroutine of ours around a handler's, which every attempt paid."""
        around = handler.around if self.has_middleware else handler.bare
        if around is not None:
            return self._call_around(around, handler, arguments, claim)
        if not handler.is_async:
            return self._in_thread(handler, arguments, claim)
        if handler.run_parameter:
            task = asyncio.current_task()
            arguments[handler.run_parameter] = Run(claim, self.notes, task=task)
        awaitable: Awaitable[Any] = handler.function(**arguments)
        return awaitable

    def _begin(self) -> None:
        self._begun = True
        self._pid = os.getpid()
        self.notes.attach()
        LISTENING.start()

    async def close(self) -> None:
        """Wait no longer for threads: they end with the process. Kill processes."""
        self._closed = True
        self.children.close()
        await self.notes.close()
        if self._begun:
            self._begun = False
            LISTENING.stop()

    async def _in_thread(self, handler: Handler, arguments: dict[str, Any], claim: Claim) -> Any:
        """Wait for a sync handler in a thread, which cannot be stopped.

        A cancellation is passed on as `run.cancelled`; the attempt takes capacity until the thread
        ends; only when the process stops is it left alone.
        """
        ask: Callable[[], object] = _nothing
        if handler.run_parameter:
            run = Run(claim, self.notes, block=_block_on(asyncio.get_running_loop()))
            arguments[handler.run_parameter], ask = run, run.cancel
        call = functools.partial(handler.function, **arguments)
        thread = Thread(handler.name, call, ask=ask, start=self.thread_for(claim))
        self._remember(claim.id, thread.done)
        return await thread.end(self._is_closed)

    def _call_around(
        self, around: Around, handler: Handler, arguments: dict[str, Any], claim: Claim
    ) -> Awaitable[Any]:
        """The handler inside its middleware and dependencies."""
        run = Run(
            claim,
            self.notes,
            task=asyncio.current_task() if handler.is_async else None,
            block=_block_on(asyncio.get_running_loop()) if handler.blocks_in(around) else None,
        )
        if handler.run_parameter:
            arguments[handler.run_parameter] = run
        sides = Sides(
            handler.name,
            run,
            begun=functools.partial(self._remember, claim.id),
            start=functools.partial(self.thread_for, claim),
            is_over=self._is_closed,
        )
        return around.call(Attempt(arguments, run, sides))

    def _remember(self, id: str, done: asyncio.Future[Any]) -> None:
        """An execution whose thread runs is not started again beside it."""

        def forget(ended: asyncio.Future[Any]) -> None:
            if self._threads.get(id) is ended:
                del self._threads[id]

        self._threads[id] = done
        done.add_done_callback(forget)

    def _is_closed(self) -> bool:
        return self._closed


def _is_interruptible() -> bool:
    """Whether a person's Ctrl-C comes as an exception: nobody has asked for the signal."""
    return signal.getsignal(signal.SIGINT) is signal.default_int_handler


def _nothing() -> None:
    """A handler without a `Run` cannot be asked to stop."""


def _block_on(loop: asyncio.AbstractEventLoop) -> Any:
    thread = threading.get_ident()

    def block(work: Coroutine[Any, Any, Any]) -> Any:
        if threading.get_ident() == thread:  # an async handler, and plain middleware around it
            work.close()
            raise NotRunning("an async handler has to await it: await run.last_result")
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    return block
