"""Handlers in processes of their own: they can be killed, and take nobody along when they die."""

from __future__ import annotations

import asyncio
import atexit
import functools
import multiprocessing
import signal
import threading
from collections.abc import Callable, Coroutine
from typing import Any

from tickwell.domain.current import CURRENT_SPAN
from tickwell.domain.execution import Claim, OutcomeKind
from tickwell.domain.outcome import Outcome
from tickwell.errors import StaleAttempt, StoreError
from tickwell.executors import child
from tickwell.executors.handlers import CHILD_NAME, Handler
from tickwell.executors.notes import NoNotes, StoreNotes
from tickwell.executors.output import Output
from tickwell.executors.thread import start_thread
from tickwell.ports.executor import Killed

#: Seconds between two looks whether a silent process is still there.
LOOK = 1.0


class Child:
    """A process that runs one handler after the other."""

    def __init__(self, begin: Callable[[], object] | None) -> None:
        # Spawned, not forked: a fork of a process with threads may hang on any of their locks.
        context = multiprocessing.get_context("spawn")
        self.line, theirs = context.Pipe()
        #: It was killed, and may take a moment to die: not for another attempt.
        self.is_spent = False
        self.process = context.Process(
            target=child.main, args=(theirs, begin), name=CHILD_NAME, daemon=True
        )
        self.process.start()
        theirs.close()

    def kill(self) -> None:
        """End it, whatever it does."""
        self.is_spent = True
        self.process.kill()

    def wait_for_words(self) -> None:
        """Wait until it has said something; raises EOFError once it is gone.

        What a handler left running in the background may hold the line open for ever.
        """
        while not self.line.poll(LOOK):
            if not self.process.is_alive() and not self.line.poll():
                raise EOFError

    def why_it_ended(self) -> str:
        """Of a process that is gone."""
        self.process.join()
        code = self.process.exitcode or 0
        if code >= 0:
            return f"its process ended with exit code {code}"
        try:
            return f"its process was killed by {signal.Signals(-code).name}"
        except ValueError:
            return f"its process was killed by signal {-code}"


class Children:
    """Processes of one worker: as many as attempts at once, used again while they live."""

    def __init__(self, notes: StoreNotes | NoNotes) -> None:
        self.notes = notes
        #: Called first in each process, which imports it: sets up the log of a service.
        self.begin: Callable[[], object] | None = None
        self._idle: list[Child] = []
        self._all: set[Child] = set()
        self._lock = threading.Lock()
        self._closed = False

    async def run(
        self, handler: Handler, claim: Claim, output: Output, *, has_middleware: bool
    ) -> Outcome:
        """Run one attempt; asked to stop it asks the handler, asked again it kills the process."""
        loop, timeout = asyncio.get_running_loop(), claim.job.timeout
        grace = (timeout.hard - timeout.soft) / 1000
        attempt = _Attempt(self, handler, claim, output, loop, has_middleware=has_middleware)
        done = start_thread(handler.name, attempt.converse)
        asked = False
        while True:
            try:
                outcome: Outcome | None = await asyncio.shield(done)
            except asyncio.CancelledError:
                if done.cancelled():
                    raise
                if asked or self._closed:
                    attempt.kill()
                else:
                    asked = True
                    attempt.ask_to_stop()
                    loop.call_later(grace, attempt.kill)
            else:
                if outcome is None:
                    raise Killed if attempt.was_killed else asyncio.CancelledError
                return outcome

    def take(self) -> Child:
        """A process that has nothing to do; in a thread, since starting one takes its time."""
        with self._lock:
            while self._idle:
                idle = self._idle.pop()
                if idle.process.is_alive():
                    return idle
                self._all.discard(idle)
        started = Child(self.begin)
        with self._lock:
            if not self._all:
                atexit.register(self.close)
            self._all.add(started)
            if self._closed:
                started.kill()
        return started

    def give_back(self, one: Child) -> None:
        """It is free for the next attempt, unless it is gone."""
        with self._lock:
            if one.process.is_alive() and not one.is_spent and not self._closed:
                self._idle.append(one)
            else:
                self._all.discard(one)

    def close(self) -> None:
        """Kill them all."""
        with self._lock:
            self._closed = True
            for one in self._all:
                one.kill()
            if self._all:
                atexit.unregister(self.close)


class _Attempt:
    """A conversation with a child about one attempt, held in a thread."""

    def __init__(
        self,
        children: Children,
        handler: Handler,
        claim: Claim,
        output: Output,
        loop: asyncio.AbstractEventLoop,
        *,
        has_middleware: bool,
    ) -> None:
        self.children = children
        self.handler = handler
        self.claim = claim
        self.output = output
        self.loop = loop
        self._has_middleware = has_middleware
        self._child: Child | None = None
        self._asked = False
        #: Its process was ended, or is to be as soon as it has one.
        self.was_killed = False

    def ask_to_stop(self) -> None:
        """Tell the handler."""
        self._asked = True
        self._say("cancel")

    def kill(self) -> None:
        """End the process, if the attempt is still its own."""
        self.was_killed = True
        if self._child is not None:
            self._child.kill()

    def converse(self) -> Outcome | None:
        """Hand the attempt over and heed what comes back; None: it was made to stop."""
        one = self._child = self.children.take()
        if self.was_killed:
            one.kill()
        try:
            parts = self.handler.module, self.handler.qualname, self.claim, CURRENT_SPAN.get()
            one.line.send(("run", *parts, self._has_middleware))
            if self._asked:
                self._say("cancel")
            return self._heed(one)
        except (EOFError, OSError):
            why = one.why_it_ended()
            if self.was_killed:
                return None
            return Outcome(kind=OutcomeKind.FAILED, error=f"{why} during the attempt")
        finally:
            self._child = None
            self.children.give_back(one)

    def _heed(self, one: Child) -> Outcome | None:
        notes = self.children.notes
        answers: dict[str, Callable[..., None]] = {
            "line": self.output.add,
            "progress": functools.partial(notes.progress, self.claim),
            "last_result": lambda: self._answer(notes.last_result(self.claim)),
            "read_steps": lambda: self._answer(notes.read_steps(self.claim)),
            "write_step": lambda name, value, is_final: self._answer(
                notes.write_step(self.claim, name, value, is_final=is_final)
            ),
        }
        for kind in ("wait_for", "answer_url"):
            ask = getattr(notes, kind)
            answers[kind] = lambda *words, ask=ask: self._answer(ask(self.claim, *words))
        while True:
            one.wait_for_words()
            kind, *parts = one.line.recv()
            if kind == "ended":
                outcome: Outcome | None = parts[0]
                if parts[1]:
                    one.kill()
                return outcome
            answers[kind](*parts)

    def _answer(self, work: Coroutine[Any, Any, Any]) -> None:
        """Tell the process what a coroutine answers, or what it raises."""
        try:
            self._say("answer", asyncio.run_coroutine_threadsafe(work, self.loop).result(), None)
        except StaleAttempt as error:
            self._say("answer", None, error)
        except Exception as error:  # noqa: BLE001 - the handler asked, and is told
            self._say("answer", None, StoreError(str(error)))

    def _say(self, *words: Any) -> None:
        if self._child is not None:
            try:
                self._child.line.send(words)
            except OSError:
                return  # the process is gone, which the reader notices
