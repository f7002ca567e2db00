"""Triggers in a document; they know their own fields, the job adds where they stand."""

from __future__ import annotations

from typing import Any

from tickwell.domain.document.remembered import remembered
from tickwell.domain.document.values import Unfit, Value
from tickwell.domain.trigger import Trigger, trigger_from_document, trigger_to_document
from tickwell.errors import InvalidTrigger


def _read(document: Any) -> Trigger:
    if not isinstance(document, dict):
        raise Unfit("is not an object")
    try:
        return trigger_from_document(document)
    except InvalidTrigger as error:
        if error.field == "trigger" or error.field.startswith("trigger."):
            raise
        path = f"trigger.{error.field}" if error.field else "trigger"
        raise InvalidTrigger(error.reason, field=path, hint=error.hint) from None


TRIGGER = remembered(Value(_read, trigger_to_document))
