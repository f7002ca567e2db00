"""Triggers in a document; they know their own fields, the job adds where they stand."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from tickwell.domain.document.values import Unfit, Value
from tickwell.domain.trigger import Trigger, trigger_from_document, trigger_to_document
from tickwell.errors import InvalidTrigger


def _read(document: Any) -> Trigger:
    if not isinstance(document, dict):
        raise Unfit("is not an object")
    if all(type(value) is str for value in document.values()):
        return _read_texts(tuple(document.items()))
    return _read_any(document)


# Jobs share a few triggers, and a trigger never changes: reading one takes half of a job's time.
@lru_cache(maxsize=1024)
def _read_texts(fields: tuple[tuple[str, str], ...]) -> Trigger:
    return _read_any(dict(fields))


def _read_any(document: dict[str, Any]) -> Trigger:
    try:
        return trigger_from_document(document)
    except InvalidTrigger as error:
        if error.field == "trigger" or error.field.startswith("trigger."):
            raise
        path = f"trigger.{error.field}" if error.field else "trigger"
        raise InvalidTrigger(error.reason, field=path, hint=error.hint) from None


TRIGGER = Value(_read, trigger_to_document)
