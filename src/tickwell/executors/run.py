"""What a handler may know about its own attempt, and tell about it."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections.abc import Callable, Coroutine, Generator
from datetime import datetime
from typing import Any, NoReturn, Protocol

from tickwell.clock import to_datetime
from tickwell.domain.execution import Claim
from tickwell.domain.trigger.duration import Duration, parse_duration
from tickwell.errors import InvalidInput, NotRunning
from tickwell.executors.results import whole

#: What a handler logs is kept with its attempt from INFO on, and goes wherever logs go.
logger = logging.getLogger("tickwell.run")
logger.setLevel(logging.INFO)

#: Waits for a coroutine in a plain function.
Block = Callable[[Coroutine[Any, Any, Any]], Any]


class Snoozed(BaseException):
    """Ends an attempt that wants to be made again later; no `except Exception` stops it."""

    def __init__(self, delay: int) -> None:
        super().__init__(delay)
        self.delay = delay


def snoozed_for(error: BaseException) -> int | None:
    """The delay of a snooze, which a `TaskGroup` wraps; None: it is something else, or more."""
    if isinstance(error, Snoozed):
        return error.delay
    if not isinstance(error, BaseExceptionGroup):
        return None
    delays = [snoozed_for(each) for each in error.exceptions]
    asked = [delay for delay in delays if delay is not None]
    return max(asked) if len(asked) == len(delays) else None


class Notes(Protocol):
    """Where an attempt writes its progress, and reads what went before."""

    def progress(self, claim: Claim, fraction: float, message: str) -> None:
        """Let others see how far it is."""
        ...

    async def last_result(self, claim: Claim) -> Any:
        """What the job's newest success before this execution returned."""
        ...


class Cancellation:
    """Whether the attempt was asked to stop: a flag, and something to wait for."""

    __slots__ = ("_asked", "_event", "_task")

    def __init__(self, task: asyncio.Task[Any] | None = None) -> None:
        self._asked = False
        #: An async handler is asked by cancelling its task.
        self._task = task
        self._event: threading.Event | None = None

    def __bool__(self) -> bool:
        return self._asked or (self._task is not None and self._task.cancelling() > 0)

    def set(self) -> None:
        """Ask the handler to stop."""
        self._asked = True
        if self._event is not None:
            self._event.set()

    def wait(self, timeout: Duration | None = None) -> bool:
        """In a plain function: sleep until asked to stop, or for a duration; say which."""
        seconds = None if timeout is None else parse_duration(timeout, field="timeout") / 1000
        if self._event is None:
            self._event = threading.Event()
        if self._asked:  # since before there was an event to set
            self._event.set()
        return self._event.wait(seconds)

    def __await__(self) -> Generator[Any, None, None]:
        """In an async one: wait until asked to stop, which raises CancelledError as anywhere."""
        yield from asyncio.Event().wait().__await__()


class LastResult:
    """A result to be read from the store: `await` it, or `get()` it in a plain function."""

    __slots__ = ("_block", "_read")

    def __init__(self, read: Callable[[], Coroutine[Any, Any, Any]], block: Block | None) -> None:
        self._read = read
        self._block = block

    def __await__(self) -> Generator[Any, None, Any]:
        return self._read().__await__()

    def get(self) -> Any:
        """Wait for it in a thread."""
        if self._block is None:
            raise NotRunning("an async handler awaits it: await run.last_result")
        return self._block(self._read())


class Run:
    """The attempt under way. A handler gets it by a parameter that is annotated with `Run`."""

    __slots__ = ("_block", "_claim", "_notes", "cancelled")

    def __init__(
        self,
        claim: Claim,
        notes: Notes,
        *,
        task: asyncio.Task[Any] | None = None,
        block: Block | None = None,
    ) -> None:
        self._claim = claim
        self._notes = notes
        #: How a plain function, in its thread, waits for what is awaited elsewhere.
        self._block = block
        #: Whether the attempt was asked to stop: cancelled, or past its soft timeout. A plain
        #: function looks at it now and then, or sleeps by `run.cancelled.wait("5s")`.
        self.cancelled = Cancellation(task)

    @property
    def id(self) -> str:
        """The execution's id, the same for all its attempts: what to deduplicate effects by."""
        return self._claim.id

    @property
    def job(self) -> str:
        """The job's name."""
        return self._claim.job.name

    @property
    def attempt(self) -> int:
        """The attempt's number; it only ever grows."""
        return self._claim.attempt

    @property
    def worker(self) -> str:
        """The id of the worker that runs the attempt."""
        return self._claim.worker

    @property
    def fire_time(self) -> datetime:
        """The nominal instant of the execution, whatever the delay."""
        return to_datetime(self._claim.fire_time)

    @property
    def payload(self) -> Any:
        """The payload, as JSON gave it."""
        return self._claim.payload

    @property
    def log(self) -> logging.Logger:
        """A logger whose lines are kept with the attempt."""
        return logger

    @property
    def last_result(self) -> LastResult:
        """What the job's newest success returned: `await run.last_result`, or `.get()` it."""
        return LastResult(self._read_last_result, self._block)

    async def _read_last_result(self) -> Any:
        return whole(await self._notes.last_result(self._claim))

    def progress(self, fraction: float, message: str = "") -> None:
        """Let others see how far it is: from 0 to 1, written once a second at most."""
        if not isinstance(fraction, int | float) or not 0 <= fraction <= 1:
            raise InvalidInput(
                f"{fraction!r} is not between 0 and 1", field="progress", hint="0.4 is two fifths"
            )
        self._notes.progress(self._claim, float(fraction), str(message))

    def snooze(self, delay: Duration) -> NoReturn:
        """End this attempt here and make another after the delay; ten times it costs nothing."""
        raise Snoozed(parse_duration(delay, field="snooze"))

    def cancel(self) -> None:
        """Ask the handler to stop."""
        self.cancelled.set()
