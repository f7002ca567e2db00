"""The setting `TICKWELL`, and what it means for the scheduler of the project."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any

from django.conf import settings as django_settings
from django.core.exceptions import ImproperlyConfigured
from django.db import connections

from tickwell.cli.config.configuration import native
from tickwell.contrib.django.store_url import store_url_of
from tickwell.domain.seconds import Seconds
from tickwell.errors import InvalidSetting
from tickwell.settings import Settings

#: Keys that are no setting of Tickwell itself.
OWN = ("database", "app", "project", "modules")
_SETTINGS = tuple(each.name for each in fields(Settings))


@dataclass(frozen=True, slots=True, kw_only=True)
class Configuration:
    """What the project says in `TICKWELL`, completed."""

    settings: Settings
    #: The alias of the database whose transactions take runs along; None: none does.
    database: str | None
    #: Whether the store is that database, and follows it.
    is_derived: bool
    app: str
    project: str
    #: Modules of every app that declare jobs and tasks.
    modules: tuple[str, ...]
    #: The settings that the project gives, by name, as commands read them from the environment.
    environment: Mapping[str, str]


def read_configuration() -> Configuration:
    """What the project's settings say; `ImproperlyConfigured` where they cannot be used."""
    configured = getattr(django_settings, "TICKWELL", {})
    if not isinstance(configured, Mapping):
        raise ImproperlyConfigured('TICKWELL must be a dict; write TICKWELL = {"APP": "shop"}')
    found = {str(key).lower(): value for key, value in configured.items()}
    for key in configured:
        _require_known(str(key))
    own = {name: found.pop(name) for name in OWN if name in found}
    is_derived = "store" not in found
    database = _alias(own.get("database", "default" if is_derived else None))
    if is_derived:
        found["store"] = store_url_of(connections[database])
    values = {name: _value(name, value) for name, value in found.items()}
    try:
        settings = Settings(**values)
    except InvalidSetting as error:
        raise ImproperlyConfigured(f"TICKWELL: {error}") from None
    return Configuration(
        settings=settings,
        database=database,
        is_derived=is_derived,
        app=_text("app", own.get("app", "django")),
        project=_text("project", own.get("project", "default")),
        modules=_modules(own.get("modules", ("jobs", "tasks"))),
        environment={
            f"TICKWELL_{name.upper()}": _as_text(getattr(settings, name))
            for name in values
            if getattr(settings, name) is not None
        },
    )


def _require_known(key: str) -> None:
    known = [each.upper() for each in (*OWN, *_SETTINGS)]
    if key.upper() not in known:
        near = get_close_matches(key.upper(), known, n=1)
        hint = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(known)}"
        raise ImproperlyConfigured(f"TICKWELL has the unknown key {key!r}; {hint}")


def _value(name: str, value: Any) -> Any:
    if value is None and name == "notify":
        return None
    if isinstance(value, tuple):
        value = list(value)
    try:
        return native(name, value, f"TICKWELL[{name.upper()!r}]")
    except InvalidSetting as error:
        raise ImproperlyConfigured(str(error)) from None


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str) or not value:
        raise ImproperlyConfigured(f"TICKWELL[{name.upper()!r}] is {value!r}; give a name")
    return value


def _alias(value: Any) -> str | None:
    if value is not None and value not in connections.settings:
        known = ", ".join(connections.settings)
        raise ImproperlyConfigured(
            f"TICKWELL['DATABASE'] is {value!r}, which is not in DATABASES; expected one of {known}"
        )
    alias: str | None = value
    return alias


def _modules(value: Any) -> tuple[str, ...]:
    if not isinstance(value, list | tuple) or not all(isinstance(each, str) for each in value):
        raise ImproperlyConfigured(
            f"TICKWELL['MODULES'] is {value!r}; give names of modules, as ('jobs', 'tasks')"
        )
    return tuple(value)


def _as_text(value: Any) -> str:
    """As `tickwell.cli.config.configuration.read` takes it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, tuple):
        return ",".join(value)
    return str(value) if isinstance(value, str | int | float | Seconds) else repr(value)
