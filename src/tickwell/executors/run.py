"""What a handler may know about its own attempt, and tell about it."""

from __future__ import annotations

import asyncio
import inspect
import logging
import threading
from collections.abc import Callable, Coroutine, Generator
from datetime import datetime
from typing import Any, NoReturn, Protocol, TypeVar

from tickwell.clock import to_datetime
from tickwell.domain.execution import Claim
from tickwell.domain.policy import Delivery
from tickwell.domain.step import WAIT, Wait
from tickwell.domain.trigger.duration import Duration, parse_duration
from tickwell.errors import AnswerTimeout, InvalidInput, NotRunning
from tickwell.executors.results import whole
from tickwell.executors.run_steps import RunSteps, StepNotes, check_name

T = TypeVar("T")

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


class Waiting(Snoozed):
    """Ends an attempt that waits for an answer from outside, or for the end of its time."""

    def __init__(self, delay: int, awaits: tuple[str, ...]) -> None:
        super().__init__(delay)
        self.awaits = awaits


class GiveUp(Exception):
    """Raise it in a handler to end the execution as dead: no attempt follows, whatever the policy.

    `raise GiveUp("the account is closed")`; the words are shown wherever the execution is.
    """


GiveUp.__module__ = "tickwell"  # where people import it from: tracebacks name it so


def gives_up(error: BaseException) -> str | None:
    """The words of a `GiveUp`, which a `TaskGroup` wraps; None: it is something else."""
    if isinstance(error, GiveUp):
        return str(error)
    if not isinstance(error, BaseExceptionGroup):
        return None
    return next((words for each in error.exceptions if (words := gives_up(each)) is not None), None)


def snoozed_for(error: BaseException) -> int | None:
    """The delay of a snooze, which a `TaskGroup` wraps; None: it is something else, or more."""
    if isinstance(error, Snoozed):
        return error.delay
    if not isinstance(error, BaseExceptionGroup):
        return None
    delays = [snoozed_for(each) for each in error.exceptions]
    asked = [delay for delay in delays if delay is not None]
    if len(asked) < len(delays):
        return None
    # The first question whose time is over is answered by that.
    return min(asked) if awaited_in(error) else max(asked)


def awaited_in(error: BaseException) -> tuple[str, ...]:
    """The steps that an attempt waits for, by the exception that ended it."""
    if isinstance(error, Waiting):
        return error.awaits
    if not isinstance(error, BaseExceptionGroup):
        return ()
    return tuple(name for each in error.exceptions for name in awaited_in(each))


class Notes(StepNotes, Protocol):
    """Where an attempt writes its progress, and reads what went before."""

    def progress(self, claim: Claim, fraction: float, message: str) -> None:
        """Let others see how far it is."""
        ...

    async def wait_for(self, claim: Claim, name: str, expires: int) -> tuple[Wait, int]:
        """Ask for an answer, unless that is done; what came of it, and what is left of its time."""
        ...

    async def answer_url(self, claim: Claim, name: str, expires: int) -> str:
        """Ask for an answer, unless that is done; where to post it."""
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


class Stored:
    """Something to be read from the store: `await` it, or `get()` it in a plain function."""

    __slots__ = ("_block", "_name", "_read")

    def __init__(
        self, name: str, read: Callable[[], Coroutine[Any, Any, Any]], block: Block | None
    ) -> None:
        self._name = name
        self._read = read
        self._block = block

    def __await__(self) -> Generator[Any, None, Any]:
        return self._read().__await__()

    def get(self) -> Any:
        """Wait for it in a thread."""
        if self._block is None:
            raise NotRunning(f"an async handler has to await it: await run.{self._name}")
        return self._block(self._read())


class Run:
    """The attempt under way. A handler gets it by a parameter that is annotated with `Run`."""

    __slots__ = ("_block", "_claim", "_notes", "_steps", "cancelled")

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
        self._steps = RunSteps(claim, notes)
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
    def last_result(self) -> Stored:
        """What the job's newest success returned: `await run.last_result`, or `.get()` it."""
        return Stored("last_result", self._read_last_result, self._block)

    async def _read_last_result(self) -> Any:
        return whole(await self._notes.last_result(self._claim))

    def step(self, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Call the function once for all attempts: a later one gets what it returned, as JSON.

        `await run.step("charge", charge, order)` in an async handler, where the function may be
        async or plain; `run.step("charge", charge, order)` in a plain one.
        """
        passed: object = function
        if not callable(passed):
            if inspect.iscoroutine(passed):
                passed.close()
            raise InvalidInput(
                f"step {name!r} needs a function; got {passed!r:.80}",
                field="step",
                hint=f"Write run.step({name!r}, charge, order) instead of charge(order)",
            )
        self._steps.claim_name(name)
        if self._is_awaited():
            return self._step(name, function, args, kwargs)
        known = self._wait(self._steps.find(name))
        if known is not None:
            return known.value
        try:
            returned = function(*args, **kwargs)
        except BaseException:
            self._steps.release_name(name)
            raise
        if inspect.isawaitable(returned):
            if inspect.iscoroutine(returned):
                returned.close()
            raise InvalidInput(
                f"step {name!r} is an async function in a plain handler",
                field="step",
                hint="Make the handler async def, or the function plain",
            )
        return self._wait(self._steps.keep(name, returned))

    async def _step(
        self, name: str, function: Callable[..., Any], args: Any, kwargs: dict[str, Any]
    ) -> Any:
        known = await self._bring(self._steps.find(name))
        if known is not None:
            return known.value
        try:
            returned = function(*args, **kwargs)
            if inspect.isawaitable(returned):
                returned = await returned
        except BaseException:
            self._steps.release_name(name)
            raise
        return await self._bring(self._steps.keep(name, returned))

    def checkpoint(self, value: Any) -> Any:
        """Record how far the work is, so that the next attempt goes on from there.

        It is in the store once `await run.checkpoint(value)` returns; without `await` in a plain
        function. It takes the place of the checkpoint before.
        """
        saving = self._steps.checkpoint(value)
        return self._bring(saving) if self._is_awaited() else self._wait(saving)

    @property
    def last_checkpoint(self) -> Stored:
        """The execution's checkpoint, or None: `await run.last_checkpoint`, or `.get()` it."""
        return Stored("last_checkpoint", self._steps.last_checkpoint, self._block)

    def wait_for(self, name: str, *, expires: Duration = "7d") -> Any:
        """The answer of somebody outside, for which the execution waits without using capacity.

        `await run.wait_for("approval", expires="3d")`; without `await` in a plain handler. Without
        an answer yet the attempt ends here, uncharged, and another begins once there is one: it
        passes the steps that are done, and gets the answer. Raises `AnswerTimeout` if none comes.
        """
        asking = self._wait_for(check_name(name), parse_duration(expires, field="expires"))
        return self._bring(asking) if self._is_awaited() else self._wait(asking)

    async def _wait_for(self, name: str, expires: int) -> Any:
        if self._claim.job.delivery is Delivery.AT_MOST_ONCE:
            raise InvalidInput(
                "run.wait_for begins another attempt, and this job is delivered at most once",
                field="delivery",
                hint='Use delivery="at_least_once", and steps for what must not happen twice',
            )
        wait, left = await self._notes.wait_for(self._claim, name, expires)
        if wait.is_open:
            raise Waiting(max(left, 0), (f"{WAIT}{name}",))
        if wait.is_expired:
            raise AnswerTimeout(name)
        return wait.answer

    def ask(self, name: str, *, expires: Duration = "7d") -> Any:
        """Let a question be answered from now on, before `run.wait_for` of the same name."""
        asking = self._ask(check_name(name), parse_duration(expires, field="expires"))
        return self._bring(asking) if self._is_awaited() else self._wait(asking)

    async def _ask(self, name: str, expires: int) -> None:
        await self._notes.wait_for(self._claim, name, expires)

    def answer_url(self, name: str, *, expires: Duration = "7d") -> Any:
        """Where anybody who has this address may POST the answer, once: `{"answer": …}`.

        `await run.answer_url("approval", expires="3d")`, before `run.wait_for` of the same name.
        """
        asking = self._notes.answer_url(
            self._claim, check_name(name), parse_duration(expires, field="expires")
        )
        return self._bring(asking) if self._is_awaited() else self._wait(asking)

    def _is_awaited(self) -> bool:
        """Whether this is called in an event loop, which may not be held up."""
        return _has_loop()

    def _wait(self, work: Coroutine[Any, Any, T]) -> T:
        """In a plain function: what a coroutine answers that runs elsewhere."""
        if self._block is None:
            work.close()
            raise NotRunning("an async handler has to await its steps itself, not in a thread")
        answer: T = self._block(work)
        return answer

    async def _bring(self, work: Coroutine[Any, Any, T]) -> T:
        """In a coroutine: the same, also where a plain handler runs a loop of its own."""
        return await (work if self._block is None else asyncio.to_thread(self._wait, work))

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


def begin_handler(run: Run) -> None:
    """Called whenever the handler is: by middleware that tries once more, with its steps done."""
    run._steps.begin()  # noqa: SLF001 - not for library users


def _has_loop() -> bool:
    """Whether an event loop runs in this thread."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
