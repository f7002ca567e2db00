"""A draft: the job document in the editor, as form fields and as text."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tickwell.domain.document import job_from_document, job_to_document
from tickwell.domain.document.initial_state import FIELDS
from tickwell.domain.job import Job
from tickwell.domain.trigger import Trigger
from tickwell.domain.trigger.document import trigger_from_document
from tickwell.errors import InvalidInput
from tickwell.services.documents import READ_ONLY
from tickwell.services.redaction.masking import masked_definition
from tickwell.ui.form_fields import (
    DEFAULTS,
    FIELD_PATHS,
    MULTI_VALUE_PATHS,
    OTHER,
    PLACEHOLDERS,
    TARGETS,
    TRIGGERS,
    get,
    kind_of,
    put,
    within,
)
from tickwell.ui.formatting import pretty


def definition(job: Job) -> dict[str, Any]:
    """The editable part of a job."""
    return _editable(masked_definition(job_to_document(job)))


@dataclass(slots=True)
class Draft:
    """A job document that may still be invalid."""

    document: dict[str, Any]
    #: Errors by path in the document: "trigger.cron".
    errors: dict[str, str] = field(default_factory=dict)
    #: Text that could not be parsed, by field: shown again as typed.
    typed: dict[str, str] = field(default_factory=dict)

    @property
    def text(self) -> str:
        """The document as indented JSON."""
        return self.typed.get("document") or pretty(self.document)

    def fields(self) -> dict[str, str]:
        """The values of the form fields."""
        found = {name: str(get(self.document, path) or "") for name, path in FIELD_PATHS.items()}
        for name, value in DEFAULTS.items():
            found[name] = found[name] or value
        for name, kinds, default in (
            ("trigger", TRIGGERS, "on_demand"),
            ("target", TARGETS, "http"),
        ):
            part = self.document.get(name)
            found[name] = kind_of(part, kinds, OTHER if part else default)
        for name in ("tags", "sign_with"):
            several = get(self.document, MULTI_VALUE_PATHS[name]) or []
            several = several if isinstance(several, list) else [several]
            found[name] = ", ".join(map(str, several))
        found["bearer"] = str(get(self.document, MULTI_VALUE_PATHS["bearer"]) or "")
        headers = get(self.document, MULTI_VALUE_PATHS["headers"])
        found["headers"] = (
            "\n".join(f"{k}: {v}" for k, v in headers.items()) if isinstance(headers, dict) else ""
        )
        for name in ("payload", "args", "kwargs"):
            value = get(self.document, MULTI_VALUE_PATHS[name])
            found[name] = "" if value is None else pretty(value)
        return found | {name: self.typed[name] for name in found.keys() & self.typed.keys()}

    def error(self, name: str) -> str:
        """The error to show next to a field."""
        paths = {field: ".".join(path) for field, path in (FIELD_PATHS | MULTI_VALUE_PATHS).items()}
        path = paths.get(name, name)
        if name in {"trigger", "target"}:
            shown = [each for each in paths.values() if within(each, name)]
            known = [
                each
                for each in self.errors
                if within(each, name) and not any(within(each, path) for path in shown)
            ]
        else:
            known = [each for each in self.errors if within(each, path)]
        return self.errors[known[0]] if known else ""

    def trigger(self) -> Trigger | None:
        """The trigger, if it is valid, even when other fields are not."""
        try:
            return trigger_from_document(self.document.get("trigger") or {})
        except InvalidInput:
            return None

    def job(self) -> Job | None:
        """The job; None if the document is invalid, and then `errors` says why."""
        try:
            return job_from_document({"id": "", **_editable(self.document)})
        except InvalidInput as error:
            for each in error.all:
                message = f"{each.reason}. {each.hint}" if each.hint else each.reason
                self.errors.setdefault(each.field, message)
        return None

    def mark_missing(self) -> None:
        """Add the errors of all blank required fields, not only of the first."""
        for path, (start, _) in PLACEHOLDERS.items():
            if get(self.document, path) == start:
                draft = self.with_placeholders()
                put(draft.document, path, start)
                draft.job()
                self.errors |= draft.errors

    def with_placeholders(self) -> Draft:
        """A copy with valid values in blank required fields, so that they are not errors yet."""
        draft = Draft(json.loads(json.dumps(self.document)), dict(self.errors))
        for path, (start, valid) in PLACEHOLDERS.items():
            if get(self.document, path) == start:
                put(draft.document, path, valid)
        return draft


def _editable(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document without its read-only fields and its state."""
    excluded = READ_ONLY | FIELDS
    return {name: value for name, value in document.items() if name not in excluded}
