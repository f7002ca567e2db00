"""The beat schedule of a Celery app, read from the app itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any

from celery import Celery
from celery.app.utils import find_app
from celery.beat import ScheduleEntry

from tickwell.celery_beat.entry import BeatEntry
from tickwell.domain.cron import check_zone
from tickwell.errors import InvalidInput

_HINT = "For example shop.celery:app, as after celery -A, run from the folder above shop"
#: What an entry in code may say; the zone is that of the app.
_KNOWN = {each.name for each in fields(BeatEntry)} & {
    *("task", "schedule", "args", "kwargs", "options", "relative", "enabled"),
}
#: Options that a task may have of its own, and that a job has too.
_OF_TASKS = ("queue", "exchange", "routing_key", "priority", "expires")
_OTHERS = {
    "django_celery_beat": "tickwell import django-celery-beat DATABASE_URL",
    "redbeat": "tickwell import redbeat REDIS_URL",
}


def load_app(path: str) -> Celery:
    """The app that a path names as `celery -A` does, with all its modules imported."""
    with _naming(path):
        found = find_app(path)
    if not isinstance(found, Celery):
        kind = type(found).__name__
        raise InvalidInput(f"{path!r} is not a Celery app but a {kind}", field="app", hint=_HINT)
    with _naming(path):
        found.loader.import_default_modules()
        found.finalize()
        _ = found.conf.beat_schedule  # configures it, and with it whatever waits for that
    return found


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """What an import does is up to the application: any failure is one sentence."""
    try:
        yield
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {error}".replace("\n", " ")
        reason = f"{path!r} cannot be loaded: {reason}"
        raise InvalidInput(reason, field="app", hint=_HINT) from error


def app_entries(app: Celery) -> list[BeatEntry]:
    """What the app's configuration and `add_periodic_task` schedule, with the app's own routes."""
    entries = app.conf.beat_schedule or {}
    return [_routed(app, entry_of(app, name, entries[name])) for name in sorted(entries)]


def _routed(app: Celery, entry: BeatEntry) -> BeatEntry:
    """The entry with what its task and the app's routes add to its options.

    No worker of ours knows the app. Celery's own default queue needs no name.
    """
    task = app.tasks.get(entry.task)
    found = {name: getattr(task, name, None) for name in _OF_TASKS}
    options = {
        name: value for name, value in {**found, **entry.options}.items() if value is not None
    }
    if not options.keys() & {"queue", "exchange"}:
        route = app.amqp.router.route({}, entry.task, entry.args, entry.kwargs)
        queue = getattr(route.get("queue"), "name", route.get("queue"))
        if queue and queue != "celery":
            options["queue"] = queue
        if route.get("priority") is not None:
            options.setdefault("priority", route["priority"])
    return replace(entry, options=options)


def require_entries(app: Celery, entries: list[BeatEntry]) -> None:
    """Refuse an app that schedules nothing; a scheduler of its own may have its entries."""
    if entries:
        return
    scheduler = str(app.conf.beat_scheduler)
    other = next((hint for name, hint in _OTHERS.items() if name in scheduler), None)
    raise InvalidInput(
        f"app {app.main or 'without a name'!r} has no beat_schedule",
        field="app",
        hint=f"Its entries are elsewhere: {other}" if other else "Name the app that beat runs with",
    )


def entry_of(app: Celery, name: str, source: Any) -> BeatEntry:
    """One entry, as a dictionary or as beat has it."""
    if isinstance(source, ScheduleEntry):
        known = {each: getattr(source, each) for each in _KNOWN if hasattr(source, each)}
    elif isinstance(source, Mapping):
        known = dict(source)
    else:
        raise InvalidInput("is not an entry of a beat schedule", field=name)
    unknown = sorted(str(each) for each in known.keys() - _KNOWN)
    if unknown:
        hint = f"Its fields are {', '.join(sorted(_KNOWN))}"
        raise InvalidInput("is not a field of an entry", field=f"{name}: {unknown[0]}", hint=hint)
    values = {each: value for each, value in known.items() if value is not None}
    missing = sorted({"task", "schedule"} - values.keys())
    if missing:
        raise InvalidInput("is missing", field=f"{name}: {missing[0]}")
    return BeatEntry(name=name, tz=check_zone(app.timezone), **values)
