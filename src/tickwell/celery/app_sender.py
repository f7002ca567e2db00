"""Sends tasks as beat does: by the app, its connection and its routes; and waits for no result."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any

from kombu.exceptions import KombuError, OperationalError

from tickwell.domain.ability import CELERY
from tickwell.domain.celery import Celery as Target
from tickwell.domain.celery import sent
from tickwell.domain.execution import Claim, OutcomeKind
from tickwell.domain.job import Job
from tickwell.domain.outcome import Outcome
from tickwell.domain.target import why_forbidden
from tickwell.executors.celery.message import Unsendable, message_of
from tickwell.ports.executor import Sort

if TYPE_CHECKING:
    from celery import Celery

#: Messages that are handed to the broker at once; each has a connection of the app's pool.
THREADS = 4
#: Milliseconds until a message comes again whose broker was away, and how often it does: one that
#: stays away is only asked whether it is back, and its executions wait.
AGAIN, BRIEF = 1_000, 5
#: Seconds that a broker gets to answer when it is only asked whether it is there.
PATIENCE = 5.0


class AppSender:
    """`ports.executor.Executor` of `Celery` targets, for a process that has their app."""

    def __init__(self, app: Celery, rules: Sequence[str]) -> None:
        self._app = app
        #: Which project may send which tasks.
        self._rules = rules
        self._threads = ThreadPoolExecutor(THREADS, thread_name_prefix="tickwell-send")

    def abilities(self) -> Mapping[Sort, frozenset[str]]:
        return {Sort.TASK: frozenset({CELERY})}

    async def refusal(self, job: Job) -> str:
        """Why nothing can be sent now: the task is not allowed, or the broker is away."""
        if why := why_forbidden(self._rules, job.project, _target(job).task):
            return why
        try:
            await self._in_thread(partial(_reach, self._app))
        except Exception as error:  # noqa: BLE001 - whatever a transport raises
            return _away(error)
        return ""

    def prepare(self, job: Job) -> None:
        """The app has its connections in a pool."""

    async def run(self, claim: Claim) -> Outcome:
        if why := why_forbidden(self._rules, claim.job.project, _target(claim.job).task):
            return Outcome(kind=OutcomeKind.RELEASED, error=why, not_here=True)
        sending = self._in_thread(partial(_send, self._app, claim))
        try:
            await asyncio.shield(sending)
        except asyncio.CancelledError:
            # A thread cannot be stopped: the broker may get the message all the same.
            await asyncio.wait([sending])
            if sending.exception() is not None:
                raise
        except (OperationalError, OSError) as error:
            if claim.returned < BRIEF:
                return Outcome(kind=OutcomeKind.SNOOZED, error=_away(error), delay=AGAIN)
            return Outcome(kind=OutcomeKind.RELEASED, error=_away(error), not_here=True)
        except (Unsendable, KombuError, ValueError, TypeError) as error:
            reason = f"the task cannot be sent: {error}"
            return Outcome(kind=OutcomeKind.FAILED, error=reason, retry=False)
        return Outcome(kind=OutcomeKind.SUCCEEDED, result=sent(claim.id))

    async def close(self) -> None:
        """Begin nothing more; the app keeps its connections."""
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _in_thread(self, call: Any) -> asyncio.Future[Any]:
        return asyncio.get_running_loop().run_in_executor(self._threads, call)


def _target(job: Job) -> Target:
    if not isinstance(job.target, Target):
        raise TypeError(f"{job.target!r} is no Celery task")
    return job.target


def _reach(app: Celery) -> None:
    with app.connection_for_write() as connection:
        connection.ensure_connection(max_retries=1, interval_start=0, timeout=PATIENCE)


def _send(app: Celery, claim: Claim) -> None:
    """As `celery.beat.Scheduler.apply_async`, with the execution's id for the task's."""
    target = _target(claim.job)
    message = message_of(claim, target, claim.id, None)
    options: dict[str, Any] = {
        name: value
        for name in ("queue", "exchange", "routing_key", "priority")
        if (value := getattr(target, name)) not in {"", None}  # else the app's routes decide
    }
    if message.expires is not None:
        options["expires"] = message.expires
    task = app.tasks.get(target.task)
    send = task.apply_async if task is not None else partial(app.send_task, target.task)
    headers = {**message.headers, "celery_beat_task": True}
    send([*message.args], {**message.kwargs}, task_id=message.id, headers=headers, **options)


def _away(error: Exception) -> str:
    reason = str(error).rstrip(".")
    return (
        f"the broker of the Celery app does not answer: {reason}. Start it, or correct broker_url"
    )
