"""Flat bodies: a job in the words of other schedulers, read as the canonical document."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from tickwell.errors import InvalidInput, InvalidJob

Document = dict[str, Any]


def _as_it_is(value: Any) -> Any:
    return value


def _millis(value: Any) -> Any:
    return value if isinstance(value, str) else f"{_count(value)}ms"


def _seconds(value: Any) -> Any:
    return value if isinstance(value, str) else f"{_count(value)}s"


def _count(value: Any) -> int:
    if type(value) is not int or value < 0:
        raise InvalidInput("is not a whole number of milliseconds or seconds", hint='Or "90s"')
    return value


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _delivery(value: Any) -> Any:
    """Exactly one execution for each fire time is what every job has; how often it starts is not.

    An attempt whose outcome is unknown starts again, unless at most once is asked for.
    """
    meant = {"exactly_once": "at_least_once", "at_least_once": None, "at_most_once": None}
    lowered = _lower(value)
    if not isinstance(lowered, str) or lowered not in meant:
        raise InvalidInput(
            "is none of EXACTLY_ONCE, AT_LEAST_ONCE and AT_MOST_ONCE",
            hint="EXACTLY_ONCE is one execution for each fire time, which every job has here",
        )
    return meant[lowered] or lowered


def _type_tag(value: Any) -> list[str]:
    if type(value) not in {int, str}:
        raise InvalidInput("is neither a number nor a text", hint="It becomes the tag type-7")
    return [f"type-{value}"]


_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat", "sun")


def _windows(value: Any) -> list[Document]:
    """Weekdays from 0 or 7, Sunday, and hours that are open, as windows."""
    if not isinstance(value, dict) or not value.keys() <= {"daysOfWeek", "hoursOfDay"}:
        hint = 'For example {"daysOfWeek": [1, 2, 3, 4, 5], "hoursOfDay": [9, 10, 11]}'
        raise InvalidInput("is not an execution window", hint=hint)
    days = _numbers(value.get("daysOfWeek", [*range(7)]), 7, "daysOfWeek")
    hours = _numbers(value.get("hoursOfDay", [*range(24)]), 23, "hoursOfDay")
    names = ",".join(dict.fromkeys(_DAYS[day] for day in days))
    opens = [hour for hour in hours if hour - 1 not in hours]
    closes = [hour + 1 for hour in hours if hour + 1 not in hours]
    return [
        {"days": names, "from": f"{first:02}:00", "to": f"{last:02}:00"}
        for first, last in zip(opens, closes, strict=True)
    ]


def _numbers(value: Any, most: int, name: str) -> list[int]:
    is_list = isinstance(value, list) and bool(value)
    if not is_list or not all(type(each) is int and 0 <= each <= most for each in value):
        raise InvalidInput(f"must be a list of numbers from 0 to {most}", field=name)
    return sorted(set(value))


@dataclass(frozen=True, slots=True)
class Word:
    """A field of a flat body."""

    #: As it is sent; in an object of its own: "webhook.url".
    name: str
    #: The field of the canonical document.
    path: str
    read: Callable[[Any], Any] = _as_it_is
    #: Fields of the canonical document that come with it.
    also: tuple[tuple[str, Any], ...] = ()


def _retry(group: str) -> Iterator[Word]:
    """Retries, as objects of several names have them."""
    for name in ("max_attempts", "maxAttempts"):
        yield Word(f"{group}.{name}", "retry.max_attempts")
    for name in ("backoff", "backoff_type", "backoffType", "strategy"):
        yield Word(f"{group}.{name}", "retry.backoff", _lower)
    yield Word(f"{group}.backoff_seconds", "retry.delay", _seconds)
    for name in ("delay", "initialDelay", "initial_delay"):
        yield Word(f"{group}.{name}", "retry.delay", _millis)
    for name in ("maxDelay", "max_delay"):
        yield Word(f"{group}.{name}", "retry.cap", _millis)
    yield Word(f"{group}.multiplier", "retry.factor")


_HTTP = "target.http"
_FINISH = (("trigger.after", "finish"),)
#: What is missing is named by the first of its words.
WORDS = (
    Word("schedule", "trigger.cron"),
    *(Word(name, "trigger.cron") for name in ("cronExpression", "cron_expression", "interval")),
    Word("timezone", "trigger.tz"),
    Word("tz", "trigger.tz"),
    Word("dialect", "trigger.dialect"),
    Word("repeat.cron", "trigger.cron"),
    Word("repeat.every", "trigger.every", _millis, _FINISH),
    Word("repeat.timezone", "trigger.tz"),
    *(Word(name, "trigger.once") for name in ("runAt", "run_at", "sleepUntil", "sleep_until")),
    *(Word(name, "trigger.until") for name in ("repeatUntil", "repeat_until")),
    Word("executionWindow", "trigger.within", _windows),
    *(Word(name, f"{_HTTP}.url") for name in ("url", "endpoint", "agentUrl", "agent_url")),
    Word("method", f"{_HTTP}.method"),
    Word("headers", f"{_HTTP}.headers"),
    Word("query_params", f"{_HTTP}.query"),
    Word("queryParams", f"{_HTTP}.query"),
    Word("body", f"{_HTTP}.json"),
    Word("body_template", f"{_HTTP}.text"),
    Word("bodyTemplate", f"{_HTTP}.text"),
    Word("webhook.url", f"{_HTTP}.url"),
    Word("webhook.method", f"{_HTTP}.method"),
    Word("webhook.headers", f"{_HTTP}.headers"),
    Word("webhook.query_params", f"{_HTTP}.query"),
    Word("webhook.body_template", f"{_HTTP}.text"),
    *_retry("retry_policy"),
    *_retry("retryPolicy"),
    Word("retry.maxAttempts", "retry.max_attempts"),
    Word("retry.delay", "retry.delay", _millis),
    Word("data", "payload"),
    Word("type", "tags", _type_tag),
    Word("executionType", "delivery", _delivery),
    Word("dedupeKey", "dedupe_key"),
    Word("autoRemove", "auto_remove"),
)
#: The events of the callbacks that come with a new job.
CALLBACKS = {"onSuccess": ("succeeded",), "onFailure": ("dead",)}
#: Objects that hold words, and the canonical fields among them, which may hold others too.
_GROUPS = frozenset(word.name.partition(".")[0] for word in WORDS if "." in word.name)
_ALSO_CANONICAL = frozenset({"retry"})
_NAMES = frozenset(word.name.partition(".")[0] for word in WORDS)

#: For fields that are missing.
_EXAMPLES = {
    "schedule": '{"schedule": "0 9 * * *"}',
    "url": '{"url": "https://example.com/hook"}',
}


def canonical(document: Any, *, patch: bool = False) -> Any:
    """The canonical document, but for `enabled`; a canonical one is not changed."""
    if not isinstance(document, dict) or _NAMES.isdisjoint(document):
        return document
    _refuse_unknown(document)
    # Canonical fields first, in whatever order they came: so a field that is given twice is seen.
    found = {name: value for name, value in document.items() if name not in _NAMES}
    for name in _ALSO_CANONICAL & document.keys():
        found[name] = _without_words(name, document[name])
    for word in WORDS:
        if _is_in(word, document):
            _put_word(found, word, document)
    if patch:
        _replace_alternatives(found, document)
    return found


def take_callbacks(document: Any) -> tuple[Any, dict[str, str]]:
    """A body without `webhooks`, and their addresses: records of their own, beside the job's."""
    if not isinstance(document, dict) or "webhooks" not in document:
        return document, {}
    found = document["webhooks"] or {}
    if not isinstance(found, dict) or not found.keys() <= CALLBACKS.keys():
        hint = 'For example {"onFailure": "https://example.com/failed"}'
        reason = "must be an object with onSuccess and onFailure"
        raise InvalidJob(reason, field="webhooks", hint=hint)
    for name, url in found.items():
        if not isinstance(url, str):
            raise InvalidJob("is no URL", field=f"webhooks.{name}")
    return {name: value for name, value in document.items() if name != "webhooks"}, found


def _refuse_unknown(document: Document) -> None:
    for group in sorted((_GROUPS - _ALSO_CANONICAL) & document.keys()):
        known = [word.name.partition(".")[2] for word in WORDS if word.name.startswith(f"{group}.")]
        value = document[group]
        if not isinstance(value, dict):
            raise InvalidInput("must be an object", field=group)
        for name in value.keys() - set(known):
            hint = f"Expected one of {', '.join(known)}"
            raise InvalidInput("is not a known field", field=f"{group}.{name}", hint=hint)


def _without_words(group: str, value: Any) -> Any:
    if not isinstance(value, dict):
        return value
    words = {word.name for word in WORDS}
    return {name: each for name, each in value.items() if f"{group}.{name}" not in words}


def _is_in(word: Word, document: Document) -> bool:
    group, _, name = word.name.rpartition(".")
    inner = document.get(group) if group else document
    return isinstance(inner, dict) and name in inner


def _sent(word: Word, document: Document) -> Any:
    group, _, name = word.name.rpartition(".")
    return (document[group] if group else document)[name]


def _put_word(found: Document, word: Word, document: Document) -> None:
    value = _sent(word, document)
    if value is not None:
        try:
            value = word.read(value)
        except InvalidInput as error:
            raise error.placed(
                lambda field: f"{word.name}.{field}" if field else word.name
            ) from None
        for path, with_it in word.also:
            _put(found, path, with_it, word.name)
    path = word.path
    trigger = found.get("trigger")
    if path == "trigger.once" and isinstance(trigger, dict) and "cron" in trigger:
        path = "trigger.start"  # a first instant beside a rule
    elif path == f"{_HTTP}.text" and (parsed := _json(value)) is not None:
        path, value = f"{_HTTP}.json", parsed
    elif path == "tags" and isinstance(found.get(path), list):
        value = found.pop(path) + value
    _put(found, path, value, word.name)


def _json(text: Any) -> Any:
    """The object or list that a template is: values that are put in are escaped there."""
    try:
        value = json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def _put(document: Document, path: str, value: Any, name: str) -> None:
    *groups, last = path.split(".")
    for group in groups:
        inner = document.get(group, {})
        if not isinstance(inner, dict):
            raise InvalidInput(f"is already given by {group}", field=name)
        document[group] = inner.copy()  # not into what was sent
        document = document[group]
    if last in document:
        raise InvalidInput("is given twice", field=name)
    document[last] = value


#: Of these a definition has one: where a patch gives it, the others go, and what came with them.
_ALTERNATIVES = (
    ("trigger", {"cron": ("tz", "dialect"), "every": ("after",), "once": ()}),
    (_HTTP, {"json": (), "text": ()}),
)


def _replace_alternatives(found: Document, document: Document) -> None:
    if "type" in document and "tags" not in document:
        hint = f'Send all tags: {{"tags": ["type-{document["type"]}"]}}'
        raise InvalidInput("would replace all tags of the job", field="type", hint=hint)
    for path, kinds in _ALTERNATIVES:
        inner: Any = found
        for name in path.split("."):
            inner = inner.get(name) if isinstance(inner, dict) else None
        if not isinstance(inner, dict) or len(given := kinds.keys() & inner.keys()) != 1:
            continue
        for kind in kinds.keys() - given:
            for name in (kind, *kinds[kind]):
                inner.setdefault(name, None)


@contextmanager
def named_as_sent(document: Any, *, flat: bool) -> Iterator[None]:
    """Name the fields of mistakes as in the body: flat where it is."""
    try:
        yield
    except InvalidInput as error:
        if not flat:
            raise
        raise flat_error(error, document) from None


def flat_error(error: InvalidInput, document: Any) -> InvalidInput:
    """The same error in the names of a client that sent a flat body."""
    found = [
        InvalidJob(each.reason, field=name, hint=_hint(each, name))
        for each in error.all
        for name in [flat_field(each.field, document)]
    ]
    return found[0].along_with(found[1:])


def _hint(error: InvalidInput, name: str) -> str:
    is_missing = error.field in {"trigger", "target"} and name in _EXAMPLES
    return f"For example {_EXAMPLES[name]}" if is_missing else error.hint


def flat_field(field: str, document: Any) -> str:
    """The name under which a client that sent a flat body knows a field."""
    if not isinstance(document, dict):
        return field
    given = [word for word in WORDS if _is_in(word, document)]
    for word in given:
        for path in (word.path, *(path for path, _ in word.also), *_INSTEAD.get(word.path, ())):
            if f"{field}.".startswith(f"{path}."):
                return _inside(word, field.removeprefix(path))
    # What is missing is named as the rest of the body is: flat.
    if field.partition(".")[0] not in document and not _NAMES.isdisjoint(document):
        missing = [word for word in WORDS if f"{word.path}.".startswith(f"{field}.")]
        beside = (word for word in missing if word.name.partition(".")[0] in document)
        return next((word.name for word in (*beside, *missing)), field)
    return field


#: Where `_put_word` puts it instead.
_INSTEAD = {"trigger.once": ("trigger.start",), f"{_HTTP}.text": (f"{_HTTP}.json",)}


def _inside(word: Word, rest: str) -> str:
    """A part of it is named as it was sent; of what was read in another form there is none."""
    return word.name + rest if word.read is _as_it_is else word.name
