"""A draft: the job document that somebody edits, as fields of a form and as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tickwell.api.definitions import READ_ONLY
from tickwell.domain.document import job_from_document, job_to_document
from tickwell.domain.job import Job
from tickwell.domain.trigger import Trigger
from tickwell.domain.trigger.document import trigger_from_document
from tickwell.errors import InvalidInput
from tickwell.ui.formatting import pretty
from tickwell.ui.forms import json_of

#: Fields of the form, and where each has its place in the document.
PLACES = {
    "name": ("name",),
    "description": ("description",),
    "queue": ("queue",),
    "cron": ("trigger", "cron"),
    "tz": ("trigger", "tz"),
    "every": ("trigger", "every"),
    "once": ("trigger", "once"),
    "url": ("target", "http", "url"),
    "method": ("target", "http", "method"),
    "timeout": ("target", "http", "timeout"),
    "handler": ("target", "call", "handler"),
    "overlap": ("overlap",),
    "misfire": ("misfire", "policy"),
    "max_attempts": ("retry", "max_attempts"),
    "delay": ("retry", "delay"),
}
#: Fields that are more than one value, and where each has its place.
FOLDED = {
    "tags": ("tags",),
    "payload": ("payload",),
    "headers": ("target", "http", "headers"),
    "sign_with": ("target", "http", "sign_with"),
    "bearer": ("target", "http", "auth", "bearer", "token"),
}
#: Which fields of the trigger and of the target go with which kind.
TRIGGERS = {"cron": ("cron", "tz"), "every": ("every",), "once": ("once",), "on_demand": ()}
TARGETS = {"http": ("url", "method", "timeout"), "call": ("handler",)}
#: A kind that the form has no fields for: what the document says of it stays.
OTHER = "other"
#: What the document does not say because it is the default.
DEFAULTS = {"queue": "default", "method": "POST", "overlap": "skip", "misfire": "latest"}
#: What a kind begins with when somebody chooses it.
STARTS = {"cron": {"cron": "0 9 * * *"}, "every": {"every": "5m"}, "once": {"once": ""}}
#: What a job cannot do without: kept when it is empty, so that its place says so.
NEEDED = {"name", "cron", "every", "once", "url", "handler"}
#: What places begin with, and something that would be right there.
UNTOUCHED = {
    ("name",): ("", "new"),
    ("trigger", "once"): ("", "2999-01-01T00:00:00Z"),
    ("target", "http", "url"): ("https://", "https://example.com"),
    ("target", "call", "handler"): ("", "new"),
}
_WHOLE = {"max_attempts"}


def definition(job: Job) -> dict[str, Any]:
    """What of a job somebody edits."""
    return _editable(job_to_document(job))


@dataclass(slots=True)
class Draft:
    """A document that may not be right yet."""

    document: dict[str, Any]
    #: What is wrong, by the place in the document: "trigger.cron".
    errors: dict[str, str] = field(default_factory=dict)
    #: Texts that could not be read, by their fields: they are shown as they were typed.
    typed: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The document as people read it."""
        return self.typed.get("document") or pretty(self.document)

    def fields(self) -> dict[str, str]:
        """The fields of the form, filled in."""
        found = {name: str(_get(self.document, place) or "") for name, place in PLACES.items()}
        for name, value in DEFAULTS.items():
            found[name] = found[name] or value
        for name, kinds, default in (
            ("trigger", TRIGGERS, "on_demand"),
            ("target", TARGETS, "http"),
        ):
            given = self.document.get(name)
            found[name] = _kind(given, kinds, OTHER if given else default)
        for name in ("tags", "sign_with"):
            several = _get(self.document, FOLDED[name]) or []
            several = several if isinstance(several, list) else [several]
            found[name] = ", ".join(map(str, several))
        found["bearer"] = str(_get(self.document, FOLDED["bearer"]) or "")
        headers = _get(self.document, FOLDED["headers"])
        found["headers"] = (
            "\n".join(f"{k}: {v}" for k, v in headers.items()) if isinstance(headers, dict) else ""
        )
        payload = self.document.get("payload")
        found["payload"] = "" if payload is None else pretty(payload)
        return found | {name: self.typed[name] for name in found.keys() & self.typed.keys()}

    def error(self, name: str) -> str:
        """What is wrong with a field."""
        places = {field: ".".join(place) for field, place in (PLACES | FOLDED).items()}
        path = places.get(name, name)
        if name in {"trigger", "target"}:
            shown = [place for place in places.values() if _within(place, name)]
            known = [
                each
                for each in self.errors
                if _within(each, name) and not any(_within(each, place) for place in shown)
            ]
        else:
            known = [each for each in self.errors if _within(each, path)]
        return self.errors[known[0]] if known else ""

    def trigger(self) -> Trigger | None:
        """The trigger, if it is right, whatever the rest is like."""
        try:
            return trigger_from_document(self.document.get("trigger") or {})
        except InvalidInput:
            return None

    def job(self) -> Job | None:
        """The job, if the document is right; else `errors` says what is wrong."""
        try:
            return job_from_document({"id": "", **_editable(self.document)})
        except InvalidInput as error:
            self.errors[error.field] = (
                f"{error.reason}. {error.hint}" if error.hint else error.reason
            )
        return None

    def mark_missing(self) -> None:
        """Say of every place where nobody has begun what it lacks, not of the first alone."""
        for place, (start, _) in UNTOUCHED.items():
            if _get(self.document, place) == start:
                alone = self.begun()
                _put(alone.document, place, start)
                alone.job()
                self.errors |= alone.errors

    def begun(self) -> Draft:
        """The same with something right where nobody has begun: there, nobody is wrong yet."""
        draft = Draft(json.loads(json.dumps(self.document)), dict(self.errors))
        for place, (start, right) in UNTOUCHED.items():
            if _get(self.document, place) == start:
                _put(draft.document, place, right)
        return draft


def from_text(text: str) -> Draft:
    """The document as somebody typed it."""
    try:
        found = json_of(text, "document")
    except InvalidInput as error:
        return Draft({}, {"document": error.reason})
    if not isinstance(found, dict):
        return Draft({}, {"document": "a job is an object"})
    return Draft(found)


def from_fields(before: Draft, given: Mapping[str, str]) -> Draft:
    """The document with what was typed into the form laid over it; all else stays as it is."""
    draft = Draft(json.loads(json.dumps(before.document)))
    document, shown = draft.document, before.fields()
    trigger, target = given.get("trigger", "cron"), given.get("target", "http")
    skipped = _others(TRIGGERS, trigger) | _others(TARGETS, target)
    if _keep_kind(document, "trigger", trigger, TRIGGERS):
        skipped.update(TRIGGERS.get(trigger, ()))
    if _keep_kind(document, "target", target, TARGETS):
        skipped.update(TARGETS.get(target, ()))
    typed = {
        name: text
        for name, text in given.items()
        if name in shown and name not in skipped and _line(text) != _line(shown[name])
    }
    for name, place in PLACES.items():
        if name in typed:
            _put(document, place, _value(name, typed[name].strip()))
    if trigger == "on_demand":
        document["trigger"]["on_demand"] = True
    if "tags" in typed:
        _put(document, FOLDED["tags"], _several(typed["tags"]) or None)
    if target == "http":
        _put_http(document, typed)
    if "payload" in typed:
        _put_payload(draft, typed["payload"])
    return draft


def _editable(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document without what the service says of a job, and nobody else."""
    return {name: value for name, value in document.items() if name not in READ_ONLY}


def _within(place: str, path: str) -> bool:
    """Whether it is the place itself or a part of it: trigger.cron.minute is in trigger.cron."""
    return place == path or place.startswith(f"{path}.")


def _value(name: str, text: str) -> Any:
    if (not text and name not in NEEDED) or DEFAULTS.get(name) == text:
        return None
    return int(text) if name in _WHOLE and text.isdecimal() else text


def _line(text: str) -> str:
    """As a field of one line holds it: browsers break lines in their own way, or not at all."""
    return text.replace("\r", "").replace("\n", "")


def _put_payload(draft: Draft, text: str) -> None:
    try:
        _put(draft.document, FOLDED["payload"], json_of(text, "payload"))
    except InvalidInput as error:
        draft.errors["payload"] = error.reason
        draft.typed["payload"] = text


def _put_http(document: dict[str, Any], typed: Mapping[str, str]) -> None:
    """Headers, and what shows who sends them; another authorization than a token stays."""
    if "headers" in typed:
        _put(document, FOLDED["headers"], _headers(typed["headers"]) or None)
    if "sign_with" in typed:
        _put(document, FOLDED["sign_with"], _several(typed["sign_with"]) or None)
    *auth, _, _ = FOLDED["bearer"]
    if typed.get("bearer", "").strip():
        _put(document, FOLDED["bearer"], typed["bearer"].strip())
    elif "bearer" in typed:
        _put(document, tuple(auth), None)


def _several(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _headers(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines() if line.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _others(kinds: Mapping[str, tuple[str, ...]], chosen: str) -> set[str]:
    return {name for kind, names in kinds.items() if kind != chosen for name in names}


def _keep_kind(
    document: dict[str, Any], name: str, kind: str, kinds: Mapping[str, tuple[str, ...]]
) -> bool:
    """Begin anew where another kind was chosen, and say so; else keep what the form lacks."""
    if kind == OTHER or _kind(document.get(name), kinds, "") == kind:
        return False
    begin = {"http": {"http": {"url": "https://"}}, "call": {"call": {"handler": ""}}} | STARTS
    document[name] = dict(begin.get(kind, {}))
    return True


def _kind(document: Any, kinds: Mapping[str, tuple[str, ...]], default: str) -> str:
    if not isinstance(document, dict):
        return default
    return next((kind for kind in kinds if kind in document), default)


def _get(document: Any, place: tuple[str, ...]) -> Any:
    for name in place:
        document = document.get(name) if isinstance(document, dict) else None
    return document


def _put(document: dict[str, Any], place: tuple[str, ...], value: Any) -> None:
    """Set what is given; take away what has its default."""
    *way, last = place
    for name in way:
        inner = document.get(name)
        if not isinstance(inner, dict):
            if value is None:
                return
            inner = document[name] = {}
        document = inner
    if value is None:
        document.pop(last, None)
    else:
        document[last] = value
