"""Types of pydantic: validated and dumped by itself, if it is installed; never required."""

from __future__ import annotations

import functools
import json
import typing
from collections.abc import Hashable, Mapping
from importlib import import_module
from typing import Any

from tickwell.domain.payload import DEEPEST


class Misfit(Exception):
    """A value that pydantic refuses: why, which, and where in it."""

    def __init__(self, why: str, value: Any, path: tuple[str, ...]) -> None:
        super().__init__(why)
        self.why = why
        self.value = value
        self.path = path


def knows(value: Any) -> bool:
    """Whether a value is of a type that pydantic dumps."""
    return _is_known(type(value))


def _is_known(kind: Any) -> bool:
    return hasattr(kind, "__pydantic_serializer__") or hasattr(kind, "__get_pydantic_core_schema__")


def adapter_of(annotation: Any) -> Any:
    """What validates values of a type that pydantic knows; None: it is no such type."""
    kind = typing.get_origin(annotation) or annotation
    return _adapter(annotation) if isinstance(kind, type) and _is_known(kind) else None


def constraints_of(annotation: Any) -> Any:
    """What checks an `Annotated` with marks such as `Field(gt=0)`; None: it has none."""
    marks = annotation.__metadata__
    known = ("pydantic.", "pydantic_core.", "annotated_types.")
    if not any(f"{type(mark).__module__}.".startswith(known) for mark in marks):
        return None
    return _adapter(annotation)


@functools.lru_cache(maxsize=1024)
def _adapter(annotation: Hashable) -> Any:
    try:
        pydantic = import_module("pydantic")
    except ImportError:  # marks of `annotated_types` alone are documentation
        return None
    return pydantic.TypeAdapter(annotation)


def validated(adapter: Any, value: Any, *, is_read: bool) -> Any:
    """The value as pydantic makes it from JSON, or checks it if it `is_read` already."""
    try:
        return adapter.validate_python(value) if is_read else adapter.validate_json(_text(value))
    except ValueError as error:  # a ValidationError, which is not importable without pydantic
        first = error.errors(include_url=False)[0]  # type: ignore[attr-defined]
        raise Misfit(first["msg"], first["input"], tuple(map(str, first["loc"]))) from None


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=repr)


def dumped(value: Any) -> Any:
    """The value as JSON that its type reads again."""
    kind: Any = type(value)
    return _adapter(kind).dump_python(value, mode="json", by_alias=True, round_trip=True)


def is_lost(value: Any, again: Any, depth: int = 0) -> bool:
    """Whether JSON lost something of an argument: a secret, an excluded field."""
    if depth > DEEPEST:
        return False  # the check of payloads refuses it
    if knows(value):
        kind: Any = type(value)
        adapter = _adapter(kind)
        return bool(adapter.dump_python(value) != adapter.dump_python(again))
    if isinstance(value, Mapping) and isinstance(again, Mapping):
        return any(is_lost(each, again.get(key), depth + 1) for key, each in value.items())
    if isinstance(value, list | tuple) and isinstance(again, list | tuple):
        return any(is_lost(*each, depth + 1) for each in zip(value, again, strict=False))
    return False
