"""A record as a JSON object: its fields, their values, and errors that name the place."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import MISSING, dataclass, fields
from difflib import get_close_matches
from functools import lru_cache
from itertools import compress
from operator import attrgetter, is_not
from typing import Any, Generic, TypeVar

from tickwell.domain.document.values import Unfit, Value
from tickwell.errors import InvalidInput, InvalidJob

T = TypeVar("T")
#: Characters of a name that are compared with those that are known.
LONGEST = 64
#: Maximum mistakes of one answer.
_MOST_WRONG = 20


@dataclass(frozen=True, slots=True)
class Field:
    """One field of an object: its kind of value, and one that works, for error messages."""

    value: Value
    example: Any


class Shape(Generic[T]):
    """Reads and writes records of one class; a field that has its default is left out."""

    def __init__(
        self,
        record: type[T],
        at: str,
        shape: Mapping[str, Field],
        unwritten: Collection[str] = (),
        *,
        independent: bool = False,
    ) -> None:
        #: Whether no field is checked against another, so that each can be checked by itself.
        self._independent = independent
        self._record = record
        #: What a hint may name: not those that nobody writes by hand.
        self._written = tuple(name for name in shape if name not in unwritten)
        self._at = at
        self._fields = shape
        defaults = _defaults(record)
        self._required = [name for name in shape if name not in defaults]
        # Frozen, so one default serves all records; making one costs more than reading a field.
        self._defaults = {name: defaults[name] for name in shape if name in defaults}
        self._reads = {name: field.value.read for name, field in shape.items()}
        self._writes = [
            (name, field.value.write, defaults.get(name, MISSING)) for name, field in shape.items()
        ]
        self._givens = [default for _, _, default in self._writes]
        self._values = _getter(*shape)

    def default(self, name: str) -> Any:
        """What a record gets, this very object, where a document says nothing of a field."""
        return self._defaults[name]

    def as_value(self) -> Value:
        """The shape as a value of a field in another shape."""
        return Value(self.read, self.write)

    def write(self, record: T, *, whole: bool = False) -> dict[str, Any]:
        """The record as an object; whole: with what has its default."""
        values = self._values(record)
        fields = zip(values, self._writes, strict=True)
        # Most have the very object that is the default: those are passed over without a look.
        others = fields if whole else compress(fields, map(is_not, values, self._givens))
        return {
            name: write(value)
            for value, (name, write, default) in others
            if whole or default is MISSING or value != default
        }

    def read(self, document: Any) -> T:
        """The record that an object describes."""
        if not isinstance(document, dict):
            raise Unfit("is not an object")
        arguments, wrong = self._defaults.copy(), list[InvalidInput]()
        for name, value in document.items():
            read = self._reads.get(name)
            if read is None:
                wrong.append(self._unknown(name))
                continue
            try:
                arguments[name] = read(value)
            except Unfit as error:
                wrong.append(self._invalid(str(error), name, error.hint))
            except InvalidInput as error:
                wrong.append(error)
            if len(wrong) == _MOST_WRONG:
                break
        wrong += [
            self._invalid("is missing", name)
            for name in self._required
            if name not in arguments and name not in document
        ]
        if wrong:
            found = [each for error in wrong for each in error.all]
            raise found[0].along_with([*found[1:], *self._further(arguments)])
        return self._record(**arguments)

    def _further(self, arguments: dict[str, Any]) -> list[InvalidInput]:
        """What the record itself finds wrong, with examples in place of what could not be read."""
        if not self._independent:
            return []
        examples = {name: self._reads[name](self._fields[name].example) for name in self._required}
        try:
            self._record(**(examples | arguments))
        except InvalidInput as error:
            return list(error.all)
        return []

    def _invalid(self, reason: str, name: str, hint: str = "") -> InvalidJob:
        return InvalidJob(reason, field=self._path(name), hint=hint or self._hint(name))

    def _unknown(self, name: object) -> InvalidJob:
        near = _near(str(name)[:LONGEST], self._written)
        known = (
            f"Expected one of {', '.join(self._written)}" if self._written else "It has no fields"
        )
        hint = self._hint(near) if near else known
        return InvalidJob("is not a known field", field=self._path(name), hint=hint)

    def _path(self, name: object) -> str:
        return f"{self._at}.{name}" if self._at else str(name)

    def _hint(self, name: str) -> str:
        return f"For example {json.dumps({name: self._fields[name].example})}"


@lru_cache(maxsize=256)
def _near(name: str, known: tuple[str, ...]) -> str | None:
    """The known name that may be meant; remembered, since a batch has the same slip in each job."""
    return next(iter(get_close_matches(name, known, n=1)), None)


def _getter(*names: str) -> Callable[[Any], tuple[Any, ...]]:
    """All fields of a record at once, which is faster than one by one."""
    if not names:
        return lambda _record: ()
    read = attrgetter(*names)
    return read if len(names) > 1 else lambda record: (read(record),)


def _defaults(record: type) -> dict[str, Any]:
    found = {}
    for field in fields(record):
        if field.default is not MISSING:
            found[field.name] = field.default
        elif field.default_factory is not MISSING:
            found[field.name] = field.default_factory()
    return found
