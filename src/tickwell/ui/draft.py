"""A draft: the job document that somebody edits, as fields of a form and as text."""

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
from tickwell.ui.formatting import pretty
from tickwell.ui.places import (
    DEFAULTS,
    FOLDED,
    OTHER,
    PLACES,
    TARGETS,
    TRIGGERS,
    UNTOUCHED,
    get,
    kind_of,
    put,
    within,
)


def definition(job: Job) -> dict[str, Any]:
    """What of a job somebody edits."""
    return _editable(masked_definition(job_to_document(job)))


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
        found = {name: str(get(self.document, place) or "") for name, place in PLACES.items()}
        for name, value in DEFAULTS.items():
            found[name] = found[name] or value
        for name, kinds, default in (
            ("trigger", TRIGGERS, "on_demand"),
            ("target", TARGETS, "http"),
        ):
            given = self.document.get(name)
            found[name] = kind_of(given, kinds, OTHER if given else default)
        for name in ("tags", "sign_with"):
            several = get(self.document, FOLDED[name]) or []
            several = several if isinstance(several, list) else [several]
            found[name] = ", ".join(map(str, several))
        found["bearer"] = str(get(self.document, FOLDED["bearer"]) or "")
        headers = get(self.document, FOLDED["headers"])
        found["headers"] = (
            "\n".join(f"{k}: {v}" for k, v in headers.items()) if isinstance(headers, dict) else ""
        )
        for name in ("payload", "args", "kwargs"):
            value = get(self.document, FOLDED[name])
            found[name] = "" if value is None else pretty(value)
        return found | {name: self.typed[name] for name in found.keys() & self.typed.keys()}

    def error(self, name: str) -> str:
        """What is wrong with a field."""
        places = {field: ".".join(place) for field, place in (PLACES | FOLDED).items()}
        path = places.get(name, name)
        if name in {"trigger", "target"}:
            shown = [place for place in places.values() if within(place, name)]
            known = [
                each
                for each in self.errors
                if within(each, name) and not any(within(each, place) for place in shown)
            ]
        else:
            known = [each for each in self.errors if within(each, path)]
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
            for each in error.all:
                said = f"{each.reason}. {each.hint}" if each.hint else each.reason
                self.errors.setdefault(each.field, said)
        return None

    def mark_missing(self) -> None:
        """Say of every place where nobody has begun what it lacks, not of the first alone."""
        for place, (start, _) in UNTOUCHED.items():
            if get(self.document, place) == start:
                alone = self.begun()
                put(alone.document, place, start)
                alone.job()
                self.errors |= alone.errors

    def begun(self) -> Draft:
        """The same with something right where nobody has begun: there, nobody is wrong yet."""
        draft = Draft(json.loads(json.dumps(self.document)), dict(self.errors))
        for place, (start, right) in UNTOUCHED.items():
            if get(self.document, place) == start:
                put(draft.document, place, right)
        return draft


def _editable(document: Mapping[str, Any]) -> dict[str, Any]:
    """A document without what the service says of a job, and without its state."""
    left = READ_ONLY | FIELDS
    return {name: value for name, value in document.items() if name not in left}
