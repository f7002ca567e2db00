"""Arguments by their annotations: JSON is checked, and made into what a handler asks for.

An annotation that no JSON can fill, such as a database session, is refused where it is declared.
"""

from __future__ import annotations

import json
import types
import typing
from collections import deque
from collections.abc import (
    Callable,
    Collection,
    Hashable,
    Iterable,
    Mapping,
    MutableMapping,
    MutableSequence,
    MutableSet,
    Sequence,
)
from collections.abc import Set as AbstractSet
from contextvars import ContextVar
from dataclasses import MISSING, fields, is_dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from enum import Enum, Flag
from pathlib import Path, PurePath
from typing import Any, ForwardRef, Literal, NamedTuple, TypeVar, Union, get_args, get_origin
from uuid import UUID

from tickwell.errors import InvalidTrigger
from tickwell.executors import pydantic_types
from tickwell.executors.jsonable import jsonable, read_timedelta
from tickwell.executors.text import said


class Unfit(Exception):
    """A value does not fit: where in it, and what is wanted there."""

    def __init__(self, wanted: str, value: Any, *path: str) -> None:
        super().__init__(wanted)
        self.wanted = wanted
        self.value = value
        self.path = path


class Foreign(Exception):
    """An annotation that no JSON can fill."""

    def __init__(self, annotation: Any, hint: str = "") -> None:
        super().__init__(annotation)
        self.annotation = annotation
        self.hint = hint


class Reader(NamedTuple):
    """What is wanted, in words, and the function that reads it or raises `Unfit`."""

    words: str
    read: Callable[[Any], Any]
    #: Reads it from the key of an object, which is always a text; None: it cannot be a key.
    read_key: Callable[[str], Any] | None = None
    #: In a union those that take less come first: "2026-11-15" is a date before it is a text.
    rank: int = 0


def reader_of(annotation: Any) -> Reader | None:
    """How to read values of an annotation; None where anything goes; `Foreign` where nothing."""
    return _Making().of(annotation)


#: What records were made of, or why they were not, while the members of a union are tried: by
#: record and object. Without it, each level of a record in a union in a record doubles the work.
_tried: ContextVar[dict[tuple[int, int], Any] | None] = ContextVar("tried", default=None)

_ANYTHING = (Any, object)
_QUALIFIERS = {typing.Final, typing.ClassVar, typing.Required, typing.NotRequired}


class _Making:
    """Readers in the making: a record may contain itself."""

    def __init__(self) -> None:
        self._records: dict[Any, _Record] = {}
        self._aliases: set[Any] = set()

    def of(self, annotation: Any) -> Reader | None:
        """How to read values of an annotation."""
        origin, args = get_origin(annotation), get_args(annotation)
        if origin is typing.Annotated:
            return self._annotated(annotation, args[0])
        if origin in _QUALIFIERS or getattr(origin, "__name__", "") == "ReadOnly":
            return self.of(args[0])
        if origin in _CONSTRUCTED:
            return _CONSTRUCTED[origin](self, args)
        if isinstance(annotation, Hashable) and annotation in _PLAIN:
            return _PLAIN[annotation]
        return self._named(annotation, origin or annotation, args)

    def _named(self, annotation: Any, kind: Any, args: Sequence[Any]) -> Reader | None:
        """Of classes, and of names for other types."""
        if kind in _ANYTHING or isinstance(kind, str | ForwardRef | TypeVar):
            return None  # a name that exists only for type checkers stands for anything
        if isinstance(kind, typing.NewType):
            return self.of(kind.__supertype__)
        if hasattr(kind, "__value__"):
            return self._alias(kind, args)
        if (adapter := pydantic_types.adapter_of(annotation)) is not None:
            return _adapted(annotation, adapter)
        return self._class(annotation, kind)

    def _alias(self, alias: Any, args: Sequence[Any]) -> Reader | None:
        """What is written as `type X = …`; inside of itself anything goes."""
        if alias in self._aliases:
            return None
        self._aliases.add(alias)
        return self.of(alias.__value__[args] if args else alias.__value__)

    def _class(self, annotation: Any, kind: Any) -> Reader | None:
        if not isinstance(kind, type):
            raise Foreign(annotation)
        if kind in _CONSTRUCTED:  # a bare list
            return _CONSTRUCTED[kind](self, ())
        if issubclass(kind, Enum):
            return _enumeration(kind)
        if issubclass(kind, PurePath):
            return _from_text("a path", kind)
        if is_dataclass(kind) or typing.is_typeddict(kind) or _is_named_tuple(kind):
            return self._record(kind)
        if kind in (bytes, bytearray):
            raise Foreign(annotation, "Pass it as a text, in base64")
        raise Foreign(annotation)

    def _annotated(self, annotation: Any, base: Any) -> Reader | None:
        """By the type itself; what pydantic knows of its constraints is checked as well."""
        adapter = pydantic_types.constraints_of(annotation)
        try:
            reader = self.of(base)
        except Foreign:
            if adapter is None:
                raise
            reader = None
        return reader if adapter is None else _adapted(annotation, adapter, reader)

    def _record(self, kind: Any) -> Reader:
        known = self._records.get(kind)
        if known is None:
            known = self._records[kind] = _Record(kind)
            known.find_fields(self)
        return Reader(known.words, known.read)


def _exactly(words: str, *kinds: type, read_key: Callable[[str], Any] | None = None) -> Reader:
    def read(value: Any) -> Any:
        if type(value) not in kinds:
            raise Unfit(words, value)
        return value

    return Reader(words, read, read_key, rank=9 if str in kinds else 0)


def _number() -> Reader:
    def read(value: Any) -> float:
        try:
            return float(value) if type(value) in {int, float} else _refuse("a number", value)
        except OverflowError:
            raise Unfit("a number", value) from None

    return Reader("a number", read, rank=1)


def _from_text(words: str, make: Callable[[str], Any], *, rank: int = 0) -> Reader:
    def read(value: Any) -> Any:
        try:
            return make(value) if isinstance(value, str) else _refuse(words, value)
        except (ValueError, ArithmeticError, InvalidTrigger):
            raise Unfit(words, value) from None

    return Reader(words, read, read, rank)


def _refuse(words: str, value: Any) -> Any:
    raise Unfit(words, value)


def _whole(key: str) -> int:
    try:
        number = int(key)
    except ValueError:
        raise Unfit("a whole number", key) from None
    if str(number) != key:
        raise Unfit("a whole number", key)
    return number


_WHOLE = _exactly("a whole number", int, read_key=_whole)
_TEXT = _exactly("a text", str, read_key=str)
_NULL = _exactly("null", type(None))
_PLAIN: dict[Any, Reader] = {
    int: _WHOLE,
    float: _number(),
    str: _TEXT,
    typing.LiteralString: _TEXT,
    bool: _exactly("true or false", bool),
    None: _NULL,
    type(None): _NULL,
    datetime: _from_text(
        "a date and time as 2026-11-15T09:00:00+00:00", datetime.fromisoformat, rank=1
    ),
    date: _from_text("a date as 2026-11-15", date.fromisoformat),
    time: _from_text("a time as 09:00:00", time.fromisoformat),
    timedelta: _from_text("a duration as 1h30m", read_timedelta),
    UUID: _from_text("a UUID", UUID),
    Decimal: _from_text('a decimal number in a text as "9.99"', Decimal),
    Path: _from_text("a path", Path, rank=8),
}


def _union(making: _Making, args: Sequence[Any]) -> Reader | None:
    found = [making.of(arg) for arg in args]
    readers = [reader for reader in found if reader is not None]
    if len(readers) < len(found):
        return None  # one of them takes anything
    words = " or ".join(reader.words for reader in readers)
    ranked = sorted(readers, key=lambda reader: reader.rank)
    is_one = sum(reader is not _NULL for reader in readers) == 1

    def read(value: Any) -> Any:
        for reader in ranked:
            try:
                return reader.read(value)
            except Unfit as unfit:
                if unfit.path and is_one:
                    raise  # only one of them can have been meant: say where it is wrong
        raise Unfit(words, value)

    def read_key(key: str) -> Any:
        for reader in ranked:
            try:
                return reader.read_key(key) if reader.read_key else _refuse(words, key)
            except Unfit:
                continue
        raise Unfit(words, key)

    rank = max((each.rank for each in readers), default=0)
    return Reader(words, read if is_one else _remembering(read), read_key, rank)


def _remembering(read: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The same, while what records are made of is remembered."""

    def reading(value: Any) -> Any:
        if _tried.get() is not None:
            return read(value)
        token = _tried.set({})
        try:
            return read(value)
        finally:
            _tried.reset(token)

    return reading


def _literal(_making: _Making, args: Sequence[Any]) -> Reader:
    return _one_of([(jsonable(arg), arg) for arg in args])


def _enumeration(kind: type[Enum]) -> Reader:
    one_of = _one_of([(jsonable(member.value), member) for member in kind])

    def read(value: Any) -> Any:
        try:
            return one_of.read(value)
        except Unfit:
            if not isinstance(value, str) and not (issubclass(kind, Flag) and type(value) is int):
                raise
            try:
                made = kind(value)  # which may know other spellings, or combine flags
            except ValueError:
                raise Unfit(one_of.words, value) from None
            if issubclass(kind, Flag) and made.value != value:  # Python 3.11 drops unknown bits
                raise
            return made

    return one_of._replace(read=read)


def _one_of(values: Sequence[tuple[Any, Any]]) -> Reader:
    """One of several values, by their JSON: true is not 1."""
    words = "one of " + ", ".join(repr(written) for written, _ in values)
    known = {json.dumps(written, default=repr): value for written, value in values}
    keys = {str(written): value for written, value in values}

    def read(value: Any) -> Any:
        text = json.dumps(value, default=repr)
        return known[text] if text in known else _refuse(words, value)

    def read_key(key: str) -> Any:
        return keys[key] if key in keys else _refuse(words, key)

    return Reader(words, read, read_key)


_Construct = Callable[[_Making, Sequence[Any]], Reader | None]


def _list_as(make: Callable[[list[Any]], Any]) -> _Construct:
    def of(making: _Making, args: Sequence[Any]) -> Reader:
        item = making.of(args[0]) if args else None

        def read(value: Any) -> Any:
            if not isinstance(value, list):
                raise Unfit("a list", value)
            try:
                return make([_inner(item, str(n), one) for n, one in enumerate(value)])
            except TypeError:
                raise Unfit("a list of what can be in a set", value) from None

        return Reader("a list", read)

    return of


def _tuple(making: _Making, args: Sequence[Any]) -> Reader | None:
    if not args or (len(args) == 2 and args[1] is Ellipsis):
        return _list_as(tuple)(making, args[:1])
    items, words = [making.of(arg) for arg in args], f"a list of {len(args)}"

    def read(value: Any) -> Any:
        if not isinstance(value, list) or len(value) != len(items):
            raise Unfit(words, value)
        return tuple(_inner(items[n], str(n), one) for n, one in enumerate(value))

    return Reader(words, read)


def _mapping(making: _Making, args: Sequence[Any]) -> Reader:
    key, inner = (making.of(arg) for arg in args) if len(args) == 2 else (None, None)
    if key is not None and key.read_key is None:
        name = getattr(args[0], "__name__", args[0])
        raise Foreign(f"dict[{name}, …]", "Keys are texts: use str, int, an Enum, a date, a UUID")
    read_key = key.read_key if key is not None and key.read_key is not None else str

    def read(value: Any) -> Any:
        if not isinstance(value, dict):
            raise Unfit("an object", value)
        return {_key(read_key, name): _inner(inner, name, one) for name, one in value.items()}

    return Reader("an object", read)


def _key(read: Callable[[str], Any], name: str) -> Any:
    try:
        return read(name)
    except Unfit as unfit:
        raise Unfit(f"{unfit.wanted} as a key", name, name) from None


class _Record:
    """A dataclass, TypedDict or NamedTuple: an object with its fields."""

    def __init__(self, kind: Any) -> None:
        self.kind = kind
        self.words = f"a {kind.__name__}"
        self.taken: dict[str, Reader | None] = {}
        self.needed: set[str] = set()
        #: Fields that are written and computed again.
        self.computed: set[str] = set()

    def find_fields(self, making: _Making) -> None:
        """Look at its annotations; of one that contains itself, while it is known already."""
        hints, names = _hints(self.kind), list[str]()
        if is_dataclass(self.kind):
            for one in fields(self.kind):
                (names.append if one.init else self.computed.add)(one.name)
                if one.init and one.default is MISSING and one.default_factory is MISSING:
                    self.needed.add(one.name)
        elif typing.is_typeddict(self.kind):
            names = [*hints]
            self.needed = {name for name in names if _is_required(self.kind, name, hints[name])}
        else:
            names = [*self.kind._fields]
            self.needed = {*names} - {*self.kind._field_defaults}
        self.words = f"an object with {', '.join(names) or 'no fields'}"
        for name in names:
            try:
                self.taken[name] = making.of(hints.get(name, Any))
            except Foreign as foreign:
                if name in self.needed:
                    raise Foreign(
                        self.kind, foreign.hint or f"Its field {name!r} is no JSON"
                    ) from None
                self.computed.add(name)

    def read(self, value: Any) -> Any:
        """Make one of an object; of a NamedTuple, of a list too."""
        tried = _tried.get()
        if tried is None:
            return self._made(value)
        key = id(self), id(value)
        if key not in tried:
            try:
                tried[key] = self._made(value)
            except Unfit as unfit:
                tried[key] = unfit
        if isinstance(tried[key], Unfit):
            raise tried[key]
        return tried[key]

    def _made(self, value: Any) -> Any:
        if isinstance(value, list) and _is_named_tuple(self.kind):
            if len(value) > len(self.taken):
                raise Unfit(self.words, value)
            value = dict(zip(self.taken, value, strict=False))
        if not isinstance(value, dict) or not self.needed <= value.keys():
            raise Unfit(self.words, value)
        if not value.keys() <= self.taken.keys() | self.computed:
            raise Unfit(self.words, value)
        named = {name: one for name, one in value.items() if name in self.taken}
        made = {name: _inner(self.taken[name], name, one) for name, one in named.items()}
        try:
            return self.kind(**made)
        except Exception as error:
            raise Unfit(f"a {self.kind.__name__} ({said(error)})", value) from error


def _hints(kind: Any) -> dict[str, Any]:
    try:
        return typing.get_type_hints(kind, include_extras=True)
    except Exception:  # noqa: BLE001 - annotations of users may name what is not importable here
        return dict.fromkeys(getattr(kind, "__annotations__", {}), Any)


def _is_required(kind: Any, name: str, hint: Any) -> bool:
    origin = get_origin(hint)
    if origin in (typing.Required, typing.NotRequired):
        return origin is typing.Required
    return name in kind.__required_keys__


def _is_named_tuple(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


def _adapted(annotation: Any, adapter: Any, reader: Reader | None = None) -> Reader:
    """By pydantic; what was read before is checked by it."""
    name = getattr(annotation, "__name__", None) or str(annotation)
    words = reader.words if reader else f"a {name}"

    def read(value: Any) -> Any:
        if reader is not None:
            value = reader.read(value)
        try:
            return pydantic_types.validated(adapter, value, is_read=reader is not None)
        except pydantic_types.Misfit as misfit:
            wanted = f"{words} ({misfit.why})"
            raise Unfit(wanted, misfit.value, *misfit.path) from None

    return Reader(words, read, reader.read_key if reader else None, reader.rank if reader else 0)


def _inner(reader: Reader | None, name: str, value: Any) -> Any:
    if reader is None:
        return value
    try:
        return reader.read(value)
    except Unfit as unfit:
        raise Unfit(unfit.wanted, unfit.value, name, *unfit.path) from None


_CONSTRUCTED: dict[Any, _Construct] = {
    Union: _union,
    types.UnionType: _union,
    Literal: _literal,
    **dict.fromkeys([list, Sequence, MutableSequence, Collection, Iterable], _list_as(list)),
    **dict.fromkeys([set, AbstractSet, MutableSet], _list_as(set)),
    frozenset: _list_as(frozenset),
    deque: _list_as(deque),
    tuple: _tuple,
    **dict.fromkeys([dict, Mapping, MutableMapping], _mapping),
}
