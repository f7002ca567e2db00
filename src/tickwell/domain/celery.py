"""The Celery task: one message to the broker of the worker that runs the attempt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from tickwell.domain.ability import CELERY
from tickwell.domain.coercion import check_each
from tickwell.domain.payload import checked
from tickwell.errors import InvalidJob

#: A message priority is one byte of AMQP; Redis brokers use 0 to 9.
HIGHEST_PRIORITY = 255


def broker_tls(url: str) -> dict[str, Any]:
    """How Celery's libraries reach a broker over TLS, as `amqps://`; empty: as they do by default.

    Unless they are told which host to expect, they accept the certificate of any other.
    """
    parts = urlsplit(url)
    return {"server_hostname": parts.hostname} if parts.scheme == "amqps" else {}


@dataclass(frozen=True, slots=True)
class Celery:
    """A task of a Celery app, by its name, with JSON arguments.

    A payload that is an object is merged into `kwargs` and wins; a list takes the place of `args`.
    """

    task: str
    args: Sequence[Any] = field(default=(), hash=False)
    kwargs: Mapping[str, Any] = field(default_factory=dict, hash=False)
    #: The Celery queue; empty: as the task's routing decides.
    queue: str = ""
    exchange: str = ""
    routing_key: str = ""
    #: Of the message, 0 to 255; None: the broker's default.
    priority: int | None = None
    #: Wait for the result where there is a result backend; False: fire and forget.
    wait: bool = True

    def __post_init__(self) -> None:
        check_each(
            self._check_task,
            self._check_arguments,
            self._check_route,
            self._check_priority,
            self._check_wait,
        )

    def _check_task(self) -> None:
        if not _is_name(self.task):
            raise InvalidJob(
                "a task has a name of 1 to 255 printable characters without spaces",
                field="target.celery.task",
                hint='For example {"celery": {"task": "shop.tasks.charge"}}',
            )

    def _check_arguments(self) -> None:
        arguments: Any = self.args
        named: Any = self.kwargs
        if isinstance(arguments, str | bytes) or not isinstance(arguments, Sequence):
            raise InvalidJob(
                "is not a list", field="target.celery.args", hint='For example {"args": [7]}'
            )
        if not isinstance(named, Mapping):
            hint = 'For example {"kwargs": {"order": 7}}'
            raise InvalidJob("is not an object", field="target.celery.kwargs", hint=hint)
        # Copies, which nobody else can change.
        args = checked(list(arguments), "target.celery.args")
        kwargs = checked(dict(named), "target.celery.kwargs")
        object.__setattr__(self, "args", tuple(args))
        object.__setattr__(self, "kwargs", kwargs)

    def _check_route(self) -> None:
        for name in ("queue", "exchange", "routing_key"):
            value = getattr(self, name)
            if value != "" and not _is_name(value):
                raise InvalidJob(
                    "1 to 255 printable characters without spaces are needed",
                    field=f"target.celery.{name}",
                    hint=f'For example {{"{name}": "billing"}}',
                )
        if bool(self.exchange) != bool(self.routing_key):
            raise InvalidJob(
                "exchange and routing_key must be set together",
                field="target.celery.routing_key" if self.exchange else "target.celery.exchange",
                hint="Or name a queue alone",
            )
        if self.exchange and self.queue:
            raise InvalidJob(
                "queue and exchange are mutually exclusive",
                field="target.celery.queue",
                hint="Leave one of them out",
            )

    def _check_priority(self) -> None:
        if self.priority is None:
            return
        if type(self.priority) is not int or not 0 <= self.priority <= HIGHEST_PRIORITY:
            raise InvalidJob(
                f"{self.priority!r} is not a whole number from 0 to {HIGHEST_PRIORITY}",
                field="target.celery.priority",
                hint='For example {"priority": 5}',
            )

    def _check_wait(self) -> None:
        if type(self.wait) is not bool:
            raise InvalidJob("is neither true nor false", field="target.celery.wait")

    def ability_in(self, project: str) -> str:
        """What a worker must be able to do to run this, whatever the project."""
        return CELERY


def sent(task_id: str) -> dict[str, Any]:
    """The result of an attempt that sent its task and did not wait for it."""
    return {"sent": True, "task_id": task_id}


def is_sent(ability: str, result: Any) -> bool:
    """Whether an execution succeeded by sending its task, however the task ended."""
    return ability == CELERY and isinstance(result, dict) and result.keys() == {"sent", "task_id"}


def _is_name(value: object) -> bool:
    if not isinstance(value, str) or not 0 < len(value) <= 255:
        return False
    return value.isprintable() and " " not in value
