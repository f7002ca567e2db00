"""Waits for the results of all outstanding tasks: one batched read at a time, one thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress

from tickwell.clock import Clock
from tickwell.executors.celery.task_state import TaskState

Read = Callable[[Sequence[str]], dict[str, TaskState]]

#: Seconds between two reads, and before a failed one is repeated.
REST, REST_AFTER_FAILURE = 0.1, 1.0
#: Seconds that the last read may take.
GOODBYE = 5.0


class Poller:
    """Reads while anything is awaited, and rests otherwise."""

    def __init__(self, clock: Clock, read: Read) -> None:
        self._clock = clock
        self._read = read
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="tickwell-celery-results")
        self._waiting: dict[str, asyncio.Future[TaskState]] = {}
        self._reading: asyncio.Task[None] | None = None
        #: Why the last read failed; empty: it did not.
        self.trouble = ""

    async def peek(self, task_id: str) -> TaskState | None:
        """What the backend says of a task now; None: nothing."""
        loop = asyncio.get_running_loop()
        ids = [*self._waiting, task_id]
        found = await loop.run_in_executor(self._thread, self._read, ids)
        self.trouble = ""
        return found.get(task_id)

    async def wait(self, task_id: str) -> TaskState:
        """How the task ended, once it has."""
        future: asyncio.Future[TaskState] = asyncio.get_running_loop().create_future()
        self._waiting[task_id] = future
        if self._reading is None or self._reading.done():
            self._reading = asyncio.create_task(self._run(), name="tickwell-celery-results")
        try:
            return await future
        finally:
            # Not that of an attempt that took over meanwhile, in the same process.
            if self._waiting.get(task_id) is future:
                del self._waiting[task_id]

    async def close(self) -> None:
        """Read no more, and wait for the read under way: it may be opening a connection."""
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)
            with suppress(TimeoutError):
                async with asyncio.timeout(GOODBYE):
                    await asyncio.get_running_loop().run_in_executor(self._thread, _nothing)
        self._thread.shutdown(wait=False, cancel_futures=True)

    async def _run(self) -> None:
        loop, rest = asyncio.get_running_loop(), REST
        while self._waiting:
            try:
                found = await loop.run_in_executor(self._thread, self._read, [*self._waiting])
            except Exception as error:  # noqa: BLE001 - whatever it is, the backend may come back
                self.trouble, rest = str(error) or type(error).__name__, REST_AFTER_FAILURE
            else:
                self.trouble, rest = "", REST
                for task_id, state in found.items():
                    future = self._waiting.get(task_id)
                    if state.has_ended and future is not None and not future.done():
                        future.set_result(state)
            await self._clock.wait(asyncio.Event(), rest)


def _nothing() -> None:
    """What comes after a read."""
