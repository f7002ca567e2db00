"""Carries out `Celery`: one attempt, one task at the broker, one result."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, TypeVar

from tickwell.clock import Clock
from tickwell.domain.ability import CELERY
from tickwell.domain.celery import Celery, sent
from tickwell.domain.execution import Claim, OutcomeKind
from tickwell.domain.job import Job
from tickwell.domain.outcome import Outcome
from tickwell.domain.target import why_forbidden
from tickwell.errors import StoreError
from tickwell.executors.celery.marks import Marks
from tickwell.executors.celery.message import (
    THREADS,
    Message,
    Unsendable,
    Unusable,
    message_of,
    queue_of,
)
from tickwell.executors.celery.poller import Poller
from tickwell.executors.celery.task_state import TaskState, outcome_of
from tickwell.ports.executor import Sort

if TYPE_CHECKING:
    from tickwell.executors.celery.client import Client

T = TypeVar("T")
#: Milliseconds after which an attempt comes again whose store could not be asked.
RETURN_AFTER = 1_000
#: Seconds for the connections to close.
GOODBYE = 5.0
#: Outcomes that stop the task; a worker that drains or was declared lost leaves it alone.
_STOPS = frozenset({OutcomeKind.TIMED_OUT, OutcomeKind.CANCELLED})


class CeleryExecutor:
    """Sends tasks, and waits for their results where there is a result backend."""

    def __init__(
        self, clock: Clock, marks: Marks, broker: str, result_backend: str, rules: Sequence[str]
    ) -> None:
        self._clock = clock
        self._marks = marks
        self._broker = broker
        self._result_backend = result_backend
        self._rules = rules
        self._client: Client | None = None
        self._poller: Poller | None = None
        self._opening: asyncio.Task[Client] | None = None
        self._threads: ThreadPoolExecutor | None = None

    def abilities(self) -> Mapping[Sort, frozenset[str]]:
        return {Sort.TASK: frozenset({CELERY} if self._broker and self._rules else ())}

    async def refusal(self, job: Job) -> str:
        target = _target(job)
        if why := why_forbidden(self._rules, job.project, target.task):
            return why
        try:
            client = await self._open()
            route = queue_of(target), target.exchange, target.routing_key
            await self._in_thread(partial(client.check, *route))
            await self._require_results(target)
        except Unusable as error:
            return str(error)
        return ""

    def prepare(self, job: Job) -> None:
        """Import Celery and reach the broker: at the instant all would be late by it."""
        if self._client is None and self._opening is None:
            self._begin_opening()

    async def run(self, claim: Claim) -> Outcome:
        target = _target(claim.job)
        if why := why_forbidden(self._rules, claim.job.project, target.task):
            return _not_here(why)
        try:
            return await self._carry_out(claim, target)
        except Unsendable as error:
            return Outcome(kind=OutcomeKind.FAILED, error=str(error), retry=False)
        except Unusable as error:
            return _not_here(str(error))
        except StoreError as error:
            reason = f"could not check whether the task was already sent: {error}"
            return Outcome(kind=OutcomeKind.SNOOZED, delay=RETURN_AFTER, error=reason)
        finally:
            self._marks.drop(claim)

    async def _carry_out(self, claim: Claim, target: Celery) -> Outcome:
        client = self._client or await self._open()
        task_id = await self._marks.task_id(claim)
        poller, reply_to, late = None, None, False
        if target.wait and client.reader is not None:
            poller, reply_to = self._poller, client.reader.reply_to(task_id)
        message = message_of(claim, target, task_id, reply_to)
        state = await self._known(poller, claim, message)
        if state is None:
            await self._require_results(target)
            await self._send(client, claim, message)
        if poller is None:
            return Outcome(kind=OutcomeKind.SUCCEEDED, result=sent(task_id))
        if state is None or not state.has_ended:
            state, late = await self._wait(client, poller, claim, task_id)
        if late and state.status == "REVOKED":
            return _too_late(claim)
        return outcome_of(state, target)

    async def close(self) -> None:
        """Hang up; tasks that were sent go on."""
        if self._opening is not None:
            self._opening.cancel()
            await asyncio.gather(self._opening, return_exceptions=True)
        await self._marks.close()
        if self._poller is not None:
            await self._poller.close()
        client, self._client = self._client, None
        if client is not None:
            with suppress(Exception):  # nothing is lost with a connection
                async with asyncio.timeout(GOODBYE):  # all threads may wait for a broker
                    await self._in_thread(client.close)
        if self._threads is not None:
            self._threads.shutdown(wait=False, cancel_futures=True)

    async def _known(
        self, poller: Poller | None, claim: Claim, message: Message
    ) -> TaskState | None:
        """What is known of a task that an earlier attempt may have sent; None: it is to be sent."""
        state = None
        # Where results are messages, this also makes the queue that they are sent to.
        if poller is not None and (claim.attempt > 1 or message.reply_to is not None):
            state = await self._peek(poller, message.id)
        if state is None and await self._marks.is_sent(claim, message.id):
            return TaskState("PENDING")
        return state

    async def _peek(self, poller: Poller, task_id: str) -> TaskState | None:
        try:
            return await poller.peek(task_id)
        except Exception as error:
            raise Unusable(_no_results(str(error))) from error

    async def _require_results(self, target: Celery) -> None:
        """Send nothing whose result could not be read."""
        if target.wait and self._poller is not None and self._poller.trouble:
            await self._peek(self._poller, "tickwell-start")

    async def _send(self, client: Client, claim: Claim, message: Message) -> None:
        sending = self._in_thread(partial(client.send, message))
        try:
            await asyncio.shield(sending)
        except asyncio.CancelledError as stop:
            # A thread cannot be stopped: the broker may get the task all the same.
            await asyncio.wait([sending])
            if sending.exception() is None:
                self._marks.add(claim, message.id)
                await self._stop(client, claim, message.id, stop)
            raise
        self._marks.add(claim, message.id)

    async def _wait(
        self, client: Client, poller: Poller, claim: Claim, task_id: str
    ) -> tuple[TaskState, bool]:
        """How the task ended, and whether that was after its soft timeout."""
        late = False
        while True:
            try:
                return await poller.wait(task_id), late
            except asyncio.CancelledError as stop:
                timeout = claim.job.timeout
                first = _reason(stop) is OutcomeKind.TIMED_OUT and not late
                if not first or timeout.soft >= timeout.hard:
                    await self._stop(client, claim, task_id, stop)
                    raise
                # What is still queued never starts; what runs has until the hard timeout.
                late = True
                await self._revoke(client, task_id, terminate=False)

    async def _stop(
        self, client: Client, claim: Claim, task_id: str, stop: asyncio.CancelledError
    ) -> None:
        if _reason(stop) in _STOPS:
            await self._revoke(client, task_id, terminate=True)
        else:
            await self._marks.flush(claim)  # the next attempt waits for this very task

    async def _revoke(self, client: Client, task_id: str, *, terminate: bool) -> None:
        with suppress(Exception):  # the broker is away: the task's own limits end it
            await self._in_thread(partial(client.revoke, task_id, terminate=terminate))

    def _in_thread(self, call: Callable[[], T]) -> asyncio.Future[T]:
        if self._threads is None:
            self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="tickwell-celery")
        return asyncio.get_running_loop().run_in_executor(self._threads, call)

    async def _open(self) -> Client:
        if self._client is not None:
            return self._client
        return await asyncio.shield(self._opening or self._begin_opening())

    def _begin_opening(self) -> asyncio.Task[Client]:
        self._opening = asyncio.create_task(self._connect(), name="tickwell-celery-open")
        # Should it fail, the attempt meets the same and says so.
        self._opening.add_done_callback(lambda task: task.cancelled() or task.exception())
        return self._opening

    async def _connect(self) -> Client:
        try:
            make = partial(_opened, self._broker, self._result_backend, self._clock)
            client = await asyncio.to_thread(make)
        finally:
            self._opening = None
        if client.reader is not None:
            self._poller = Poller(self._clock, client.reader.read)
        self._client = client
        return client


def _opened(broker: str, result_backend: str, clock: Clock) -> Client:
    """Import Celery only now: a process that sends no task never pays for it."""
    from tickwell.executors.celery.client import Client  # noqa: PLC0415

    client = Client(broker, result_backend, clock.monotonic)
    client.open()
    return client


def _target(job: Job) -> Celery:
    if not isinstance(job.target, Celery):
        raise TypeError(f"{job.target!r} is no Celery task")
    return job.target


def _reason(stop: asyncio.CancelledError) -> OutcomeKind | None:
    reason = stop.args[0] if stop.args else None
    return reason if isinstance(reason, OutcomeKind) else None


def _not_here(why: str) -> Outcome:
    return Outcome(kind=OutcomeKind.RELEASED, error=why, not_here=True)


def _no_results(reason: str) -> str:
    return (
        f"the result backend cannot be read: {reason[:300]}."
        " Start it, or correct the setting result_backend"
    )


def _too_late(claim: Claim) -> Outcome:
    soft = claim.job.timeout.soft / 1000
    error = f"timed out after {soft:g} s: no Celery worker had started the task, and it was revoked"
    return Outcome(kind=OutcomeKind.TIMED_OUT, error=error)
