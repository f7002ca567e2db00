"""The event loop that owns a scheduler, and the way into it from other loops and threads.

Connections, locks and tasks belong to one event loop. The loop that starts a scheduler owns it;
until one does, a loop in a thread of its own does: an application may make a loop per request
(Flask, Django under WSGI), and such a loop ends while others still wait for their replies.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine
from concurrent.futures import CancelledError, Future
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar, cast

from tickwell.declared.background import Background, at_exit
from tickwell.declared.loops import refuse_a_loop
from tickwell.errors import NotRunning

P = ParamSpec("P")
T = TypeVar("T")
Work = Callable[[], Coroutine[Any, Any, T]]

#: Seconds that calls under way get to end when the background thread is stopped.
PATIENCE = 5.0
_STOPPED = (
    "the scheduler was stopped before it answered; call it again once blocking.stop() is over,"
    " which opens it anew"
)
IN_A_LOOP = (
    "a blocking call would stop the event loop that it is made in; await the scheduler's own"
    " method instead, without .blocking"
)


class OwnerLoop:
    """Runs every call on a scheduler in the one event loop that owns it."""

    def __init__(
        self,
        loop_factory: Callable[[], asyncio.AbstractEventLoop],
        stop: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        #: The owner, once there is one.
        self.loop: asyncio.AbstractEventLoop | None = None
        #: Whether any call makes its loop the owner, as virtual time needs it.
        self.always_claims = False
        self._loop_factory = loop_factory
        self._stop = stop
        self._background: Background | None = None
        self._is_ending = False
        #: Set once the loop that starts the scheduler has it instead of the background thread.
        self._moved: threading.Event | None = None
        self._changing = threading.Lock()

    async def run(self, work: Work[T], *, claims: bool = False) -> T:
        """Run it in the owner; without one, in this loop if it `claims`, or in the background."""
        here = asyncio.get_running_loop()
        if self.loop is here:
            return await work()
        claimed = here if claims or self.always_claims else None
        while (future := self._submit(work, claimed)) is None:
            await asyncio.to_thread(self._wait_for_move)
        if isinstance(future, Future):
            return await _reply(future)
        return await work()

    def call(self, work: Work[T]) -> T:
        """Run it in the owner, and wait for it in a thread without a loop."""
        refuse_a_loop(IN_A_LOOP)
        while (future := self._submit(work, None)) is None:
            self._wait_for_move()
        try:
            return cast("Future[T]", future).result()
        except CancelledError:
            raise NotRunning(_STOPPED) from None

    def _submit(
        self, work: Work[T], claimed: asyncio.AbstractEventLoop | None
    ) -> Future[T] | asyncio.AbstractEventLoop | None:
        """The reply to come; or the loop that was claimed; None while the owner changes."""
        with self._changing:  # in the loop before it may end
            if self._moved is not None:
                return None
            owner = self._claim(claimed)
            return owner if owner is claimed else asyncio.run_coroutine_threadsafe(work(), owner)

    def _claim(self, claimed: asyncio.AbstractEventLoop | None) -> asyncio.AbstractEventLoop:
        if self._is_ending:
            raise NotRunning(_STOPPED)
        if self.loop is not None and (self.loop.is_running() or self._is_in_background()):
            return self.loop
        if claimed is None:
            if self._background is None:
                self._background = Background(self._loop_factory)
                at_exit(self.end_background)
            claimed = self._background.loop
        self.loop = claimed
        return claimed

    def _is_in_background(self) -> bool:
        return self._background is not None and self.loop is self._background.loop

    def release(self) -> None:
        """The scheduler was stopped: whichever loop needs it next may own it."""
        self.loop = None

    async def claim_from_background(self) -> None:
        """Take over from the background thread, which only answered calls: handlers run here."""
        with self._changing:
            background = self._background
            if (
                background is None
                or self._is_ending
                or self._moved is not None
                or not self._is_in_background()
                or background.loop is asyncio.get_running_loop()
            ):
                return
            self._moved = threading.Event()
        try:
            await asyncio.to_thread(self._end, background, calls_end=True)
        finally:
            with self._changing:
                self._background, self.loop = None, None
                moved, self._moved = self._moved, None
            moved.set()

    def _wait_for_move(self) -> None:
        if (moved := self._moved) is not None:
            moved.wait()

    async def stop(self) -> None:
        """Drain the engine and close the store in the loop that owns them."""
        background = self._background
        if background is None or background.loop is asyncio.get_running_loop():
            await self.run(self._stop, claims=True)
        elif self._is_in_background():
            await asyncio.to_thread(self.end_background)
        else:
            await self.run(self._stop, claims=True)

    def end_background(self) -> None:
        """Drain the engine if it runs in the background, close the store, end the thread."""
        refuse_a_loop(IN_A_LOOP)
        with self._changing:
            background, is_first = self._background, not self._is_ending
            self._is_ending = background is not None
        if background is None:
            return
        if not is_first:
            background.join()
            return
        try:
            self._end(background, calls_end=False)
        finally:
            with self._changing:
                if self.loop is background.loop:
                    self.loop = None
                self._background, self._is_ending = None, False

    def _end(self, background: Background, *, calls_end: bool) -> None:
        try:
            work = self._wind_up(background, calls_end=calls_end)
            asyncio.run_coroutine_threadsafe(work, background.loop).result()
        finally:
            background.end()

    async def _wind_up(self, background: Background, *, calls_end: bool) -> None:
        is_owner, calls = self.loop is background.loop, _others()
        if calls_end and calls:
            await asyncio.wait(calls, timeout=PATIENCE)
        if is_owner:
            await self._stop()
        calls = _others()
        for call in calls:
            call.cancel()
        if calls:  # each caller gets an error
            await asyncio.wait(calls, timeout=PATIENCE)
            if is_owner:
                await self._stop()  # one of them may have opened the store again

    def forget(self) -> None:
        """In a forked child: the thread and the loop stayed with the parent."""
        self.loop, self._background, self._is_ending, self._moved = None, None, False, None
        self._changing = threading.Lock()


def _others() -> set[asyncio.Task[Any]]:
    return asyncio.all_tasks() - {cast("asyncio.Task[Any]", asyncio.current_task())}


async def _reply(future: Future[T]) -> T:
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is not None and task.cancelling():
            raise  # the caller was cancelled, and so is the call
        raise NotRunning(_STOPPED) from None


class Owned(Protocol):
    """An object whose calls run in the owner."""

    _owner: OwnerLoop


S = TypeVar("S", bound=Owned)


def in_owner(
    method: Callable[Concatenate[S, P], Coroutine[Any, Any, T]],
) -> Callable[Concatenate[S, P], Coroutine[Any, Any, T]]:
    """A method that may be awaited in any event loop, and runs in the scheduler's own."""

    @functools.wraps(method)
    async def call(self: S, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await self._owner.run(lambda: method(self, *args, **kwargs))

    return call


class Marshalled:
    """A service whose async methods may be awaited in any loop; they open the store if needed."""

    def __init__(
        self, service: object, owner: OwnerLoop, open_store: Callable[[], Awaitable[None]]
    ) -> None:
        vars(self).update(_service=service, _owner=owner, _open=open_store)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._service, name)
        if not inspect.iscoroutinefunction(found):
            return found

        @functools.wraps(found)
        async def call(*args: Any, **kwargs: Any) -> Any:
            async def opened() -> Any:
                await self._open()
                return await found(*args, **kwargs)

            return await self._owner.run(opened)

        return call

    def __setattr__(self, name: str, value: Any) -> None:
        setattr(self._service, name, value)
