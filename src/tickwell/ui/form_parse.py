"""Parses what was typed into the job editor, in its form or as a document, into a draft."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fastapi import Request
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from tickwell.errors import InvalidInput, TickwellError
from tickwell.ui.draft import Draft
from tickwell.ui.form_fields import (
    DEFAULTS,
    FIELD_PATHS,
    INITIAL_TRIGGERS,
    MULTI_VALUE_PATHS,
    OTHER,
    REQUIRED,
    TARGETS,
    TRIGGERS,
    kind_of,
    parse_json,
    put,
)
from tickwell.ui.redirects import path_of
from tickwell.web.same_origin import require_own_site

_INTEGERS = {"max_attempts"}


def from_text(text: str) -> Draft:
    """The draft of a document typed as text."""
    try:
        found = parse_json(text, "document")
    except InvalidInput as error:
        return Draft({}, {"document": error.reason})
    if not isinstance(found, dict):
        return Draft({}, {"document": "must be a JSON object"})
    return Draft(found)


def from_fields(before: Draft, submitted: Mapping[str, str]) -> Draft:
    """The document updated with the form fields that changed; everything else is unchanged."""
    draft = Draft(json.loads(json.dumps(before.document)))
    document, shown = draft.document, before.fields()
    trigger, target = submitted.get("trigger", "cron"), submitted.get("target", "http")
    skipped = _others(TRIGGERS, trigger) | _others(TARGETS, target)
    if _reset_kind(document, "trigger", trigger, TRIGGERS):
        skipped.update(TRIGGERS.get(trigger, ()))
    if _reset_kind(document, "target", target, TARGETS):
        skipped.update(TARGETS.get(target, ()))
    typed = {
        name: text
        for name, text in submitted.items()
        if name in shown and name not in skipped and _line(text) != _line(shown[name])
    }
    for name, path in FIELD_PATHS.items():
        if name in typed:
            put(document, path, _value(name, typed[name].strip()))
    if trigger == "on_demand":
        document["trigger"]["on_demand"] = True
    if "tags" in typed:
        put(document, MULTI_VALUE_PATHS["tags"], _several(typed["tags"]) or None)
    if target == "http":
        _put_http(document, typed)
    for name in ("payload", "args", "kwargs"):
        if name in typed and (name == "payload" or target == "celery"):
            _put_json(draft, name, typed[name])
    return draft


def _value(name: str, text: str) -> Any:
    if (not text and name not in REQUIRED) or DEFAULTS.get(name) == text:
        return None
    return int(text) if name in _INTEGERS and text.isdecimal() else text


def _line(text: str) -> str:
    """Text without line breaks: browsers change or drop them in fields of one line."""
    return text.replace("\r", "").replace("\n", "")


def _put_json(draft: Draft, name: str, text: str) -> None:
    try:
        put(
            draft.document,
            MULTI_VALUE_PATHS[name],
            parse_json(text, name) if text.strip() else None,
        )
    except InvalidInput as error:
        draft.errors[".".join(MULTI_VALUE_PATHS[name])] = error.reason
        draft.typed[name] = text


def _put_http(document: dict[str, Any], typed: Mapping[str, str]) -> None:
    """Headers, signature and bearer token; another kind of authorization is unchanged."""
    if "headers" in typed:
        put(document, MULTI_VALUE_PATHS["headers"], _headers(typed["headers"]) or None)
    if "sign_with" in typed:
        put(document, MULTI_VALUE_PATHS["sign_with"], _several(typed["sign_with"]) or None)
    *auth, _, _ = MULTI_VALUE_PATHS["bearer"]
    if typed.get("bearer", "").strip():
        put(document, MULTI_VALUE_PATHS["bearer"], typed["bearer"].strip())
    elif "bearer" in typed:
        put(document, tuple(auth), None)


def _several(text: str) -> list[str]:
    return [each.strip() for each in text.split(",") if each.strip()]


def _headers(text: str) -> dict[str, str]:
    pairs = (line.partition(":") for line in text.splitlines() if line.strip())
    return {name.strip(): value.strip() for name, _, value in pairs}


def _others(kinds: Mapping[str, tuple[str, ...]], chosen: str) -> set[str]:
    return {name for kind, names in kinds.items() if kind != chosen for name in names}


def _reset_kind(
    document: dict[str, Any], name: str, kind: str, kinds: Mapping[str, tuple[str, ...]]
) -> bool:
    """Reset a trigger or target whose kind was changed; True if it was reset."""
    if kind == OTHER or kind_of(document.get(name), kinds, "") == kind:
        return False
    initial = INITIAL_TRIGGERS | {
        "http": {"http": {"url": "https://"}},
        "call": {"call": {"handler": ""}},
        "celery": {"celery": {"task": ""}},
    }
    document[name] = dict(initial.get(kind, {}))
    return True


#: Forms without secret fields: those are never shown again.
_WITHOUT_SECRETS = ("/jobs", "/executions", "/dead")
_TOKEN = "csrf"  # noqa: S105 - the name of a field


@dataclass(frozen=True, slots=True)
class SubmittedForm:
    """A form as submitted, with its CSRF token among the fields."""

    action: str
    fields: tuple[tuple[str, str], ...] = ()

    @property
    def text(self) -> str:
        """All fields as text, to copy."""
        return "\n".join(f"{name}: {value}" for name, value in self.fields if name != _TOKEN)

    def wrong(self, error: Exception) -> tuple[str, str] | None:
        """The field that caused an error, and its value."""
        field = error.field if isinstance(error, InvalidInput) else ""
        return next((each for each in self.fields if each[0] == field), None)


async def submitted_form(request: Request) -> SubmittedForm:
    """The form of a request; empty if another site may have submitted it."""
    action = path_of(request)
    if request.method != "POST" or not action.startswith(_WITHOUT_SECRETS):
        return SubmittedForm(action)
    try:
        require_own_site(request)
        found = (await request.form()).multi_items()
    except (TickwellError, HTTPException, ClientDisconnect):
        return SubmittedForm(action)
    fields = ((name, value) for name, value in found if isinstance(value, str) and value)
    return SubmittedForm(action, tuple(fields))
