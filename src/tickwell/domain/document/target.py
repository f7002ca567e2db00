"""Targets in a document: an object with one field, the kind."""

from __future__ import annotations

from typing import Any

from tickwell.domain.document.shape import Field, Shape
from tickwell.domain.document.values import TEXT, Unfit, Value
from tickwell.domain.target import Call, Target

_KINDS = {"call": Shape(Call, "target.call", {"handler": Field(TEXT, "send_report")})}
_NAMES: dict[type, str] = {Call: "call"}


def _read(document: Any) -> Target:
    if not isinstance(document, dict) or len(document) != 1:
        raise Unfit(f"is not an object with one of {', '.join(_KINDS)}")
    [(kind, inner)] = document.items()
    if kind not in _KINDS:
        raise Unfit(f"{kind!r} is not one of {', '.join(_KINDS)}")
    try:
        return _KINDS[kind].read(inner)
    except Unfit as error:
        raise Unfit(f"{kind} {error}") from None


def _write(target: Target) -> dict[str, Any]:
    name = _NAMES[type(target)]
    return {name: _KINDS[name].write(target)}


TARGET = Value(_read, _write)
