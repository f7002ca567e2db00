"""What somebody typed, into the form or as a document, as a draft."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from tickwell.errors import InvalidInput
from tickwell.ui.draft import Draft
from tickwell.ui.forms import json_of
from tickwell.ui.places import (
    DEFAULTS,
    FOLDED,
    NEEDED,
    OTHER,
    PLACES,
    STARTS,
    TARGETS,
    TRIGGERS,
    kind_of,
    put,
)

_WHOLE = {"max_attempts"}


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
            put(document, place, _value(name, typed[name].strip()))
    if trigger == "on_demand":
        document["trigger"]["on_demand"] = True
    if "tags" in typed:
        put(document, FOLDED["tags"], _several(typed["tags"]) or None)
    if target == "http":
        _put_http(document, typed)
    for name in ("payload", "args", "kwargs"):
        if name in typed and (name == "payload" or target == "celery"):
            _put_json(draft, name, typed[name])
    return draft


def _value(name: str, text: str) -> Any:
    if (not text and name not in NEEDED) or DEFAULTS.get(name) == text:
        return None
    return int(text) if name in _WHOLE and text.isdecimal() else text


def _line(text: str) -> str:
    """As a field of one line holds it: browsers break lines in their own way, or not at all."""
    return text.replace("\r", "").replace("\n", "")


def _put_json(draft: Draft, name: str, text: str) -> None:
    try:
        put(draft.document, FOLDED[name], json_of(text, name) if text.strip() else None)
    except InvalidInput as error:
        draft.errors[".".join(FOLDED[name])] = error.reason
        draft.typed[name] = text


def _put_http(document: dict[str, Any], typed: Mapping[str, str]) -> None:
    """Headers, and what shows who sends them; another authorization than a token stays."""
    if "headers" in typed:
        put(document, FOLDED["headers"], _headers(typed["headers"]) or None)
    if "sign_with" in typed:
        put(document, FOLDED["sign_with"], _several(typed["sign_with"]) or None)
    *auth, _, _ = FOLDED["bearer"]
    if typed.get("bearer", "").strip():
        put(document, FOLDED["bearer"], typed["bearer"].strip())
    elif "bearer" in typed:
        put(document, tuple(auth), None)


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
    if kind == OTHER or kind_of(document.get(name), kinds, "") == kind:
        return False
    begin = STARTS | {
        "http": {"http": {"url": "https://"}},
        "call": {"call": {"handler": ""}},
        "celery": {"celery": {"task": ""}},
    }
    document[name] = dict(begin.get(kind, {}))
    return True
