"""The scheduler for code without an event loop: scripts, Flask, Django."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar, Unpack

from tickwell.declared.loops import refuse_a_loop
from tickwell.declared.policies import Policies
from tickwell.domain.change import Changed
from tickwell.domain.execution import Execution
from tickwell.domain.job import Entry, JobState
from tickwell.domain.target import Target
from tickwell.domain.trigger import Trigger
from tickwell.domain.trigger.duration import Duration
from tickwell.errors import NotRunning

if TYPE_CHECKING:
    from tickwell.declared.named import Named

T = TypeVar("T")

#: Seconds that calls under way get to end when the thread is stopped.
PATIENCE = 5.0
_STOPPED = (
    "the scheduler was stopped before it answered; call it again once blocking.stop() is over,"
    " which opens it anew"
)
_IN_A_LOOP = (
    "a blocking call would stop the event loop that it is made in; await the scheduler's own"
    " method instead, without .blocking"
)

#: Called while threads can still be started: what `atexit` calls comes after the end of all pools,
#: and a store closes with the help of one.
_at_exit: Callable[[Callable[[], None]], object] = getattr(
    threading, "_register_atexit", atexit.register
)


class Background:
    """An event loop in a thread of its own, which ends with the process."""

    def __init__(self, loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
        self.loop = loop_factory()
        self._thread = threading.Thread(target=self._run, name="tickwell-loop", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.close()

    def end(self) -> None:
        """Stop the loop and wait for its thread."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.join()

    def join(self) -> None:
        """Wait for its end."""
        self._thread.join()


class Blocking:
    """The scheduler's calls by name, each of which waits for its answer."""

    def __init__(
        self,
        named: Named,
        home: Callable[[], asyncio.AbstractEventLoop | None],
        loop_factory: Callable[[], asyncio.AbstractEventLoop],
        stop: Callable[[], Coroutine[Any, Any, None]],
    ) -> None:
        self._named = named
        self._home = home
        self._loop_factory = loop_factory
        self._stop = stop
        self._background: Background | None = None
        self._is_ending = False
        self._changing = threading.Lock()

    def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run it in the scheduler's loop: the one it lives in, or one in the background."""
        refuse_a_loop(_IN_A_LOOP)
        with self._changing:  # in the loop before it may end
            loop = self._loop()
            future = asyncio.run_coroutine_threadsafe(work(), loop)
        try:
            return future.result()
        except CancelledError:
            raise NotRunning(_STOPPED) from None

    def _loop(self) -> asyncio.AbstractEventLoop:
        if self._is_ending:
            raise NotRunning(_STOPPED)
        home = self._home()
        if home is not None and home.is_running():
            return home
        if self._background is None:
            self._background = Background(self._loop_factory)
            _at_exit(self.stop)
        return self._background.loop

    def stop(self) -> None:
        """Drain the engine if it runs in the background, close the store, end the thread."""
        refuse_a_loop(_IN_A_LOOP)
        with self._changing:
            background, is_first = self._background, not self._is_ending
            self._is_ending = background is not None
        if background is None:
            return
        if is_first:
            try:
                asyncio.run_coroutine_threadsafe(self._wind_up(), background.loop).result()
            finally:
                background.end()
                with self._changing:
                    self._background, self._is_ending = None, False
        else:
            background.join()

    async def _wind_up(self) -> None:
        await self._stop()
        calls = asyncio.all_tasks() - {asyncio.current_task()}
        for call in calls:
            call.cancel()
        if calls:  # whoever waits for one is told
            await asyncio.wait(calls, timeout=PATIENCE)
            await self._stop()  # one of them may have opened the store again

    def forget(self) -> None:
        """In a forked child: the thread stayed with the parent."""
        self._background, self._is_ending, self._changing = None, False, threading.Lock()

    def trigger(self, name: str, payload: Any = None, *, key: str | None = None) -> Execution:
        """Run a job now. The same key again answers with the same execution."""
        return self.call(lambda: self._named.trigger(name, payload, key=key))

    def trigger_at(
        self, when: datetime, name: str, payload: Any = None, *, key: str | None = None
    ) -> Execution:
        """Run a job at an instant."""
        return self.call(lambda: self._named.trigger_at(when, name, payload, key=key))

    def trigger_in(
        self, delay: Duration, name: str, payload: Any = None, *, key: str | None = None
    ) -> Execution:
        """Run a job after a while."""
        return self.call(lambda: self._named.trigger_in(delay, name, payload, key=key))

    def add(
        self, name: str, trigger: Trigger | None, target: Target, **policies: Unpack[Policies]
    ) -> Entry:
        """Add a job that no code declares."""
        return self.call(lambda: self._named.add(name, trigger, target, **policies))

    def get(self, name: str) -> Entry:
        """One job."""
        return self.call(lambda: self._named.get(name))

    def list(self, *, search: str | None = None, state: JobState | None = None) -> Sequence[Entry]:
        """Jobs, by name."""
        return self.call(lambda: self._named.list(search=search, state=state))

    def edit(
        self,
        name: str,
        *,
        trigger: Trigger | None = None,
        target: Target | None = None,
        **policies: Unpack[Policies],
    ) -> Entry:
        """Change what is given of a job."""
        return self.call(lambda: self._named.edit(name, trigger=trigger, target=target, **policies))

    def pause(
        self, name: str, *, why: str = "", until: datetime | Duration | None = None
    ) -> Changed:
        """Stop a job from firing."""
        return self.call(lambda: self._named.pause(name, why=why, until=until))

    def resume(self, name: str) -> Changed:
        """Let a job fire again."""
        return self.call(lambda: self._named.resume(name))

    def delete(self, name: str) -> Changed:
        """Take a job away; its history stays until retention ends."""
        return self.call(lambda: self._named.delete(name))

    def execution(self, id: str) -> Execution:
        """One execution with its attempts."""
        return self.call(lambda: self._named.execution(id))

    def wait(self, execution: Execution | str, within: Duration | None = None) -> Execution:
        """An execution once it has ended; as it stands when the time is over."""
        return self.call(lambda: self._named.wait(execution, within))

    def history(self, name: str, limit: int = 100) -> Sequence[Execution]:
        """The newest executions of a job."""
        return self.call(lambda: self._named.history(name, limit))
