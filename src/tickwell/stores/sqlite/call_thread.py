"""Threads for blocking calls: each has a connection of its own, and one call is one hop."""

from __future__ import annotations

import asyncio
import json
import sqlite3
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

from tickwell.errors import StoreUnavailable
from tickwell.stores.sqlite.errors import not_json, translate
from tickwell.stores.sqlite.forking import AtWork
from tickwell.stores.sqlite.session import Session
from tickwell.threads import AwaitedThread

T = TypeVar("T")
Work = Callable[[Session], T]


class ThreadCall:
    """Something to be done in the thread, and who waits for it."""

    __slots__ = ("error", "future", "look", "loop", "result", "work")

    def __init__(self, work: Work[Any], look: Work[Any] | None = None) -> None:
        self.work = work
        #: Tried before any lock is taken; what it answers, unless None, is the result.
        self.look = look
        self.loop = asyncio.get_running_loop()
        self.future: asyncio.Future[Any] = self.loop.create_future()
        self.result: Any = None
        self.error: BaseException | None = None

    def resolve(self) -> None:
        """Answer the callers that still wait."""
        if self.future.done():
            return
        if self.error is not None:
            self.future.set_exception(self.error)
        else:
            self.future.set_result(self.result)


class CallThread:
    """A thread that serves calls in order. A hop costs about 200 µs, so a call does all it can."""

    #: Calls that are served together at most.
    together = 1

    def __init__(self, name: str, where: str, connect: Callable[[], sqlite3.Connection]) -> None:
        self.where = where
        self._name = name
        self._connect = connect
        self._calls: SimpleQueue[ThreadCall | None] = SimpleQueue()
        self._thread: AwaitedThread | None = None
        self._session: Session | None = None
        self._at_work = AtWork(self._disconnect)

    async def start(self) -> None:
        """Connect; raises what stands in the way."""
        if self._is_there():
            return
        first = ThreadCall(_nothing)
        self._calls = SimpleQueue()
        self._thread = AwaitedThread(self._main, self._name, first)
        self._thread.start()
        try:
            await first.future
        except BaseException:
            # An opener that was cancelled goes when the file is let go of: a process that removes
            # it afterwards would see it made again.
            await self.stop()
            raise

    async def stop(self) -> None:
        """Serve what is waiting, then let go of the connection."""
        thread, self._thread = self._thread, None
        if thread is not None:
            self._calls.put(None)
            await thread.ended()

    async def call(self, work: Work[T], look: Work[T | None] | None = None) -> T:
        """Do this in the thread; `look` may find, without a lock, that there is nothing to do."""
        if not self._is_there():
            raise StoreUnavailable(f"{self.where} is not open; call open() first")
        call = ThreadCall(work, look)
        self._calls.put(call)
        result: T = await call.future
        return result

    def serve(self, session: Session, calls: list[ThreadCall]) -> None:
        """Carry out what is waiting and note results and errors."""
        for call in calls:
            call.error = None
            try:
                call.result = self.attempt(session, call.work)
            except BaseException as error:  # noqa: BLE001 - it is the caller's, whatever it is
                call.error = self.translated(error)

    def attempt(self, session: Session, work: Work[T]) -> T:
        """Carry out one call."""
        return work(session)

    def translated(self, error: BaseException) -> BaseException:
        """An error as callers know it."""
        if isinstance(error, sqlite3.Error):
            ours: BaseException = translate(error, self.where)
        elif isinstance(error, json.JSONDecodeError):
            ours = not_json(error, self.where)
        else:
            return error
        ours.__cause__ = error
        return ours

    def rest(self) -> None:
        """Called when the answers are out."""

    def _is_there(self) -> bool:
        # In a child that was forked it is known, and stayed behind.
        return self._thread is not None and self._thread.is_alive()

    def _main(self, first: ThreadCall) -> None:
        with self._at_work:
            try:
                self._session = Session(self._connect())
            except BaseException as error:  # noqa: BLE001 - it is the opener's
                first.error = self.translated(error)
        _answer([first])
        if first.error is not None:
            return
        try:
            while calls := self._waiting():
                with self._at_work:
                    self._serve_all(calls)
                _answer(calls)
                self.rest()
        finally:
            with self._at_work:
                self._disconnect()

    def _serve_all(self, calls: list[ThreadCall]) -> None:
        """Whatever goes wrong, the callers hear of it, and the thread goes on."""
        try:
            if self._session is None:  # the process was forked
                self._session = Session(self._connect())
            self.serve(self._session, calls)
        except BaseException as error:  # noqa: BLE001 - a thread that ended would leave all waiting
            for call in calls:
                call.error = self.translated(error)

    def _disconnect(self) -> None:
        session, self._session = self._session, None
        if session is not None:
            session.connection.close()

    def _waiting(self) -> list[ThreadCall]:
        """The calls to be served together; none when it is over."""
        call = self._calls.get()
        calls: list[ThreadCall] = []
        while call is not None:
            calls.append(call)
            if len(calls) == self.together:
                return calls
            try:
                call = self._calls.get_nowait()
            except Empty:
                return calls
        if calls:
            self._calls.put(None)  # the end is seen again once these are served
        return calls


def _nothing(_: Session) -> None:
    """Connecting was all."""


def _answer(calls: list[ThreadCall]) -> None:
    for loop in {call.loop for call in calls}:
        mine = [call for call in calls if call.loop is loop]
        try:
            loop.call_soon_threadsafe(_resolve, mine)
        except RuntimeError:
            continue  # the loop is closed: nobody waits any more


def _resolve(calls: list[ThreadCall]) -> None:
    for call in calls:
        call.resolve()
