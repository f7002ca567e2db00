"""Arguments by their annotations: JSON is checked, and made into what a handler asks for.

What an annotation says beyond these kinds is the handler's own affair: anything goes.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import Enum
from typing import Any, Literal, NamedTuple, Union, get_args, get_origin
from uuid import UUID

from tickwell.domain.trigger.duration import parse_duration
from tickwell.errors import InvalidTrigger


class Unfit(Exception):
    """A value does not fit: where in it, and what is wanted there."""

    def __init__(self, wanted: str, value: Any, *path: str) -> None:
        super().__init__(wanted)
        self.wanted = wanted
        self.value = value
        self.path = path


class Reader(NamedTuple):
    """What is wanted, in words, and the function that reads it or raises `Unfit`."""

    words: str
    read: Callable[[Any], Any]


def reader_of(annotation: Any) -> Reader | None:
    """How to read values of an annotation; None where anything goes."""
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is typing.Annotated:
        return reader_of(args[0])
    if origin in _CONSTRUCTED:
        return _CONSTRUCTED[origin](args)
    if isinstance(annotation, Hashable) and annotation in _PLAIN:
        return _PLAIN[annotation]
    return _of_class(annotation) if isinstance(annotation, type) else None


def _of_class(kind: type) -> Reader | None:
    if kind in _CONSTRUCTED:  # a bare list
        return _CONSTRUCTED[kind](())
    if issubclass(kind, Enum):
        return _enumeration(kind)
    return _record(kind) if is_dataclass(kind) else None


def _exactly(words: str, *kinds: type) -> Reader:
    def read(value: Any) -> Any:
        if type(value) not in kinds:
            raise Unfit(words, value)
        return value

    return Reader(words, read)


def _number() -> Reader:
    def read(value: Any) -> float:
        if type(value) not in {int, float}:
            raise Unfit("a number", value)
        return float(value)

    return Reader("a number", read)


def _from_text(words: str, make: Callable[[str], Any]) -> Reader:
    def read(value: Any) -> Any:
        try:
            return make(value) if isinstance(value, str) else _refuse(words, value)
        except (ValueError, ArithmeticError, InvalidTrigger):
            raise Unfit(words, value) from None

    return Reader(words, read)


def _refuse(words: str, value: Any) -> Any:
    raise Unfit(words, value)


def _duration(text: str) -> timedelta:
    return timedelta(milliseconds=parse_duration(text))


_PLAIN: dict[Any, Reader] = {
    int: _exactly("a whole number", int),
    float: _number(),
    str: _exactly("a text", str),
    bool: _exactly("true or false", bool),
    None: _exactly("null", type(None)),
    type(None): _exactly("null", type(None)),
    datetime: _from_text("a date and time as 2026-11-15T09:00:00+00:00", datetime.fromisoformat),
    date: _from_text("a date as 2026-11-15", date.fromisoformat),
    timedelta: _from_text("a duration as 1h30m", _duration),
    UUID: _from_text("a UUID", UUID),
    Decimal: _from_text('a decimal number in a text as "9.99"', Decimal),
}


def _union(args: Sequence[Any]) -> Reader | None:
    found = [reader_of(arg) for arg in args]
    readers = [reader for reader in found if reader is not None]
    if len(readers) < len(found):
        return None  # one of them takes anything
    words = " or ".join(reader.words for reader in readers)

    def read(value: Any) -> Any:
        for reader in readers:
            try:
                return reader.read(value)
            except Unfit as unfit:
                if unfit.path and len(readers) - _nulls(readers) == 1:
                    raise  # only one of them can have been meant: say where it is wrong
        raise Unfit(words, value)

    return Reader(words, read)


def _nulls(readers: Sequence[Reader]) -> int:
    return sum(reader is _PLAIN[None] or reader is _PLAIN[type(None)] for reader in readers)


def _literal(args: Sequence[Any]) -> Reader:
    words = "one of " + ", ".join(repr(arg) for arg in args)

    def read(value: Any) -> Any:
        for arg in args:
            if type(arg) is type(value) and arg == value:
                return value
        raise Unfit(words, value)

    return Reader(words, read)


def _enumeration(kind: type[Enum]) -> Reader:
    words = "one of " + ", ".join(repr(member.value) for member in kind)

    def read(value: Any) -> Enum:
        try:
            return kind(value)
        except ValueError:
            raise Unfit(words, value) from None

    return Reader(words, read)


def _list_as(make: Callable[[list[Any]], Any]) -> Callable[[Sequence[Any]], Reader]:
    def of(args: Sequence[Any]) -> Reader:
        item = reader_of(args[0]) if args else None

        def read(value: Any) -> Any:
            if not isinstance(value, list):
                raise Unfit("a list", value)
            return make([_inner(item, str(n), one) for n, one in enumerate(value)])

        return Reader("a list", read)

    return of


def _tuple(args: Sequence[Any]) -> Reader:
    if not args or (len(args) == 2 and args[1] is Ellipsis):
        return _list_as(tuple)(args[:1])
    items, words = [reader_of(arg) for arg in args], f"a list of {len(args)}"

    def read(value: Any) -> Any:
        if not isinstance(value, list) or len(value) != len(items):
            raise Unfit(words, value)
        return tuple(_inner(items[n], str(n), one) for n, one in enumerate(value))

    return Reader(words, read)


def _mapping(args: Sequence[Any]) -> Reader:
    inner = reader_of(args[1]) if len(args) == 2 else None

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            raise Unfit("an object", value)
        return {key: _inner(inner, key, one) for key, one in value.items()}

    return Reader("an object", read)


def _record(kind: type) -> Reader:
    """A dataclass, from an object with its fields."""
    try:
        hints = typing.get_type_hints(kind)
    except Exception:  # noqa: BLE001 - annotations of users may name what is not importable here
        hints = {}
    taken = {one.name: reader_of(hints.get(one.name)) for one in _fields(kind)}
    needed = [
        one.name
        for one in _fields(kind)
        if one.default is MISSING and one.default_factory is MISSING
    ]
    words = f"an object with {', '.join(taken) or 'no fields'}"

    def read(value: Any) -> Any:
        if not isinstance(value, dict) or not value.keys() <= taken.keys():
            raise Unfit(words, value)
        if any(name not in value for name in needed):
            raise Unfit(words, value)
        given = {name: _inner(taken[name], name, one) for name, one in value.items()}
        try:
            return kind(**given)
        except (TypeError, ValueError) as error:
            raise Unfit(f"a {kind.__name__} ({error})", value) from error

    return Reader(words, read)


def _fields(kind: type) -> list[Any]:
    return [one for one in fields(kind) if one.init]


def _inner(reader: Reader | None, name: str, value: Any) -> Any:
    if reader is None:
        return value
    try:
        return reader.read(value)
    except Unfit as unfit:
        raise Unfit(unfit.wanted, unfit.value, name, *unfit.path) from None


_CONSTRUCTED: dict[Any, Callable[[Sequence[Any]], Reader | None]] = {
    Union: _union,
    types.UnionType: _union,
    Literal: _literal,
    list: _list_as(list),
    Sequence: _list_as(list),
    Iterable: _list_as(list),
    set: _list_as(set),
    frozenset: _list_as(frozenset),
    tuple: _tuple,
    dict: _mapping,
    Mapping: _mapping,
}
