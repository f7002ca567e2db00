"""Triggers in a document; they know their own fields, the job adds where they stand."""

from __future__ import annotations

from typing import Any

from tickwell.domain.document.remembered import remembered
from tickwell.domain.document.values import Unfit, Value
from tickwell.domain.trigger import Trigger, trigger_from_document, trigger_to_document
from tickwell.domain.trigger.reader import placed


def _read(document: Any) -> Trigger:
    if not isinstance(document, dict):
        raise Unfit("is not an object")
    with placed("trigger", "trigger"):
        return trigger_from_document(document)


TRIGGER = remembered(Value(_read, trigger_to_document))
