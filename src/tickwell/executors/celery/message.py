"""A task on its way to the broker, made of a claim. Nothing here needs Celery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tickwell.clock import to_datetime
from tickwell.domain.celery import Celery
from tickwell.domain.current import CURRENT_SPAN
from tickwell.domain.execution import Claim
from tickwell.executors.http.request.values import in_words
from tickwell.ids import traceparent

#: Threads that send and revoke, each with its connection.
THREADS = 4
#: The queue of a task that names none; what the Celery app calls otherwise is not known here.
DEFAULT_QUEUE = "celery"


class Unusable(Exception):
    """Broker or result backend cannot be used now, and why, with the remedy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    """One task as it is sent."""

    id: str
    task: str
    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    #: Empty: where the exchange leads.
    queue: str
    exchange: str
    routing_key: str
    priority: int | None
    headers: Mapping[str, str]
    #: Seconds; None: as the task's own settings say.
    soft: float | None
    hard: float | None
    #: After it no Celery worker starts the task any more.
    expires: datetime | None
    reply_to: str | None


class Unsendable(Exception):
    """A payload that no task can take."""


def queue_of(target: Celery) -> str:
    """The queue that the task goes to; empty: its exchange decides."""
    return "" if target.exchange else target.queue or DEFAULT_QUEUE


def message_of(claim: Claim, target: Celery, task_id: str, reply_to: str | None) -> Message:
    """The task of an attempt."""
    timeout, expires = claim.job.timeout, claim.job.expires
    # Celery takes no soft limit that is not shorter than the hard one.
    soft = timeout.soft / 1000 if timeout.soft < timeout.hard else None
    args, kwargs = arguments(target, claim.payload)
    return Message(
        id=task_id,
        task=target.task,
        args=args,
        kwargs=kwargs,
        queue=queue_of(target),
        exchange=target.exchange,
        routing_key=target.routing_key,
        priority=target.priority,
        headers={
            "tickwell-execution": claim.id,
            "tickwell-job": claim.job.id,
            "tickwell-fire-time": in_words(claim.fire_time),
            "tickwell-attempt": str(claim.attempt),
            "traceparent": CURRENT_SPAN.get() or traceparent(claim.id, claim.attempt),
        },
        # A task that is only sent may run as long as it likes: the attempt ends with the sending.
        soft=soft if target.wait else None,
        hard=timeout.hard / 1000 if target.wait else None,
        expires=None if expires is None else to_datetime(claim.run_at + expires),
        reply_to=reply_to,
    )


def arguments(target: Celery, payload: Any) -> tuple[Sequence[Any], Mapping[str, Any]]:
    """The task's arguments: an object is merged into `kwargs` and wins, a list replaces `args`."""
    if payload is None:
        return target.args, target.kwargs
    if isinstance(payload, dict):
        return target.args, {**target.kwargs, **payload}
    if isinstance(payload, list):
        return payload, target.kwargs
    raise Unsendable(
        f"the payload of a Celery task is an object or a list, not {str(payload)[:40]!r}."
        " Give it a name: an object is passed as keyword arguments"
    )
