"""Entries of a beat schedule as jobs: an option that has no counterpart is refused, never lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from tickwell.celery_beat.entry import BeatEntry
from tickwell.celery_beat.schedules import trigger_of
from tickwell.domain.celery import Celery
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Job
from tickwell.domain.trigger import parse_duration
from tickwell.errors import InvalidInput, InvalidJob

#: Marks jobs that came from beat: an import changes no others.
TAG = "celery-beat"
_ROUTES = ("queue", "exchange", "routing_key")
_ON_THE_TASK = (
    "Set it on the task or in the configuration of the app, and remove it from the entry; or let"
    " Celery beat keep the entry: tickwell import … --skip"
)


def jobs_of(entries: Sequence[BeatEntry], *, wait: bool) -> list[Job]:
    """The jobs of all entries; if any is refused, one error that names every one of them."""
    jobs, wrong = list[Job](), list[InvalidInput]()
    for entry in entries:
        try:
            jobs.append(job_of(entry, wait=wait))
        except InvalidInput as error:
            wrong += error.all
    if wrong:
        raise wrong[0].along_with(wrong[1:])
    return jobs


def job_of(entry: BeatEntry, *, wait: bool = False) -> Job:
    """The job that does what the entry did; `wait` follows each task to its result."""
    try:
        return _job(entry, wait=wait)
    except InvalidInput as error:
        raise error.placed(lambda field: f"{entry.name}: {field}") from None


def _job(entry: BeatEntry, *, wait: bool) -> Job:
    options = {name: value for name, value in entry.options.items() if value is not None}
    expires, until = _expiry(options.pop("expires", None))
    routes = {name: _name(options.pop(name)) for name in _ROUTES if name in options}
    if routes.get("exchange"):
        routes.pop("queue", None)  # Celery sends to the exchange, and only declares the queue
    priority = options.pop("priority", None)
    if not options.get("headers", True):
        del options["headers"]
    _refuse(options)
    _refuse_lazy(entry)
    if until is not None:
        entry = replace(entry, until=min(until, entry.until or until))
    target = Celery(
        entry.task,
        args=tuple(entry.args or ()),
        kwargs=dict(entry.kwargs or {}),
        priority=priority,
        wait=wait,
        **routes,
    )
    return Job(
        id="",
        name=entry.name,
        trigger=trigger_of(entry),
        target=target,
        expires=None if expires is None else parse_duration(expires, field="options.expires"),
        # Beat sends a task whether or not the one before has ended. Without results only sending
        # takes time: while a broker is away, beat keeps one message of an entry, and so do we.
        overlap=Overlap.ALLOW if wait else Overlap.SKIP,
        description=entry.description,
        tags=(TAG,),
    )


def _expiry(expires: Any) -> tuple[timedelta | None, datetime | None]:
    """Seconds after which a message is worth nothing; or a moment, after which none is."""
    if expires is None:
        return None, None
    if isinstance(expires, datetime):
        return None, expires if expires.tzinfo is not None else expires.replace(tzinfo=UTC)
    seconds = expires.total_seconds() if isinstance(expires, timedelta) else expires
    if isinstance(seconds, bool) or not isinstance(seconds, int | float) or seconds <= 0:
        raise InvalidJob(
            f"{expires!r} is not a number of seconds, a timedelta or a datetime",
            field="options.expires",
            hint="For example 3600",
        )
    return timedelta(seconds=seconds), None


def _name(raw: Any) -> Any:
    """Queues and exchanges may be objects of kombu, which know their names."""
    return getattr(raw, "name", raw)


def _refuse(options: dict[str, Any]) -> None:
    wrong = [
        InvalidJob("has no counterpart in a job", field=f"options.{name}", hint=_ON_THE_TASK)
        for name in sorted(options)
    ]
    if wrong:
        raise wrong[0].along_with(wrong[1:])


def _refuse_lazy(entry: BeatEntry) -> None:
    """Beat calls such a value anew for every message; a job has its arguments written down."""
    values = {f"args.{number}": value for number, value in enumerate(entry.args or ())}
    values |= {f"kwargs.{name}": value for name, value in (entry.kwargs or {}).items()}
    for field, value in values.items():
        if type(value).__name__ == "BeatLazyFunc":
            raise InvalidJob(
                "is computed by Celery beat for every message",
                field=field,
                hint="Compute it in the task; it gets the fire time in its headers",
            )
