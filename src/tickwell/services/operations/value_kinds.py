"""Kinds of values: how each is read from JSON, refused with a reason, documented and typed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from math import isfinite
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, TypeAlias

from tickwell.clock import NEVER, to_millis
from tickwell.domain.trigger.duration import read_duration
from tickwell.errors import InvalidInput

if TYPE_CHECKING:
    from tickwell.services.operations.schema import Record

Schema = dict[str, Any]
MISSING: Any = object()
#: The default of a field that may be left out, where no value of JSON stands for that.
OMITTED: Any = object()
#: How an instant is written.
INSTANT_EXAMPLE = "2026-11-15T09:00:00Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldInfo:
    """What a record says of a field besides its type."""

    default: Any = MISSING
    ge: float | None = None
    le: float | None = None
    min_length: int | None = None
    max_length: int | None = None
    pattern: str | None = None
    #: Its name in documents, where Python cannot have it.
    alias: str | None = None
    example: Any = MISSING
    description: str = ""
    #: An absent value and null are told apart.
    keeps_null: bool = False


def field(
    default: Any = MISSING,
    *,
    ge: float | None = None,
    le: float | None = None,
    min_length: int | None = None,
    max_length: int | None = None,
    pattern: str | None = None,
    alias: str | None = None,
    example: Any = MISSING,
    description: str = "",
    keeps_null: bool = False,
) -> Any:
    """A field with bounds, a default, or an example; without a default it is required."""
    return FieldInfo(
        default=default,
        ge=ge,
        le=le,
        min_length=min_length,
        max_length=max_length,
        pattern=pattern,
        alias=alias,
        example=example,
        description=description,
        keeps_null=keeps_null,
    )


class Kind:
    """A kind of value: how it is read from JSON, documented, and typed for clients."""

    #: Its type in a client's result.
    python: str = "Any"

    def schema(self) -> Schema:
        """As JSON Schema has it."""
        return {}

    def read(self, value: Any) -> Any:
        """The value of a document; `InvalidInput` with fields below this one."""
        return value

    def from_text(self, text: str) -> Any:
        """The same from a query parameter."""
        return self.read(text)

    def records(self) -> Iterator[type[Record]]:
        """The records that it is made of."""
        return iter(())


@dataclass(frozen=True, slots=True)
class Text(Kind):
    """A string, perhaps of limited length."""

    info: FieldInfo = FieldInfo()
    python = "str"

    def schema(self) -> Schema:
        info = self.info
        bounds = {
            "minLength": info.min_length,
            "maxLength": info.max_length,
            "pattern": info.pattern,
        }
        return {"type": "string"} | {key: each for key, each in bounds.items() if each is not None}

    def read(self, value: Any) -> str:
        longest = self.info.max_length
        if not isinstance(value, str) or (longest is not None and len(value) > longest):
            most = "" if longest is None else f" of at most {longest} characters"
            raise InvalidInput(f"must be a string{most}")
        if "\0" in value:
            raise InvalidInput("must not contain a NUL character")
        return value


@dataclass(frozen=True, slots=True)
class Whole(Kind):
    """A whole number, perhaps between bounds."""

    info: FieldInfo = FieldInfo()
    python = "int"

    def schema(self) -> Schema:
        return {"type": "integer"} | _range(self.info)

    def read(self, value: Any) -> int:
        if type(value) is not int:
            raise InvalidInput(f"must be a whole number{_between(self.info)}")
        _check_range(value, self.info)
        return value

    def from_text(self, text: str) -> int:
        if not re.fullmatch(r"[+-]?[0-9]{1,18}", text):
            raise InvalidInput(f"must be a whole number{_between(self.info)}")
        return self.read(int(text))


@dataclass(frozen=True, slots=True)
class Real(Kind):
    """A number, perhaps between bounds."""

    info: FieldInfo = FieldInfo()
    python = "float"

    def schema(self) -> Schema:
        return {"type": "number"} | _range(self.info)

    def read(self, value: Any) -> float:
        if type(value) not in {int, float} or not isfinite(value):
            raise InvalidInput(f"must be a number{_between(self.info)}")
        _check_range(value, self.info)
        return float(value)


class Flag(Kind):
    """True or false."""

    python = "bool"
    _WORDS: ClassVar[Mapping[str, bool]] = {"true": True, "1": True, "false": False, "0": False}

    def schema(self) -> Schema:
        return {"type": "boolean"}

    def read(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise InvalidInput("must be true or false")
        return value

    def from_text(self, text: str) -> bool:
        return self.read(self._WORDS.get(text.lower()))


@dataclass(frozen=True, slots=True)
class Choice(Kind):
    """One of some words."""

    words: Sequence[Any]
    enum: type[StrEnum] | None = None

    @property
    def python(self) -> str:  # type: ignore[override]
        return "str" if self.enum else f"Literal[{', '.join(map(repr, self.words))}]"

    def schema(self) -> Schema:
        found: Schema = {"enum": list(self.words)}
        if len(self.words) == 1:
            found = {"const": self.words[0]}
        return found | ({"type": "string"} if isinstance(self.words[0], str) else {})

    def read(self, value: Any) -> Any:
        if not isinstance(value, str | bool) or value not in self.words:
            words = ", ".join(map(str, self.words))
            raise InvalidInput("unknown value", hint=f"Expected one of {words}")
        return self.enum(str(value)) if self.enum else value


class InstantKind(Kind):
    """RFC 3339 in a document, milliseconds in Python."""

    python = "str"

    def schema(self) -> Schema:
        return {"type": "string", "format": "date-time"}

    def read(self, value: Any) -> int:
        hint = f"For example {INSTANT_EXAMPLE}"
        if not isinstance(value, str) or len(value) > 64:
            raise InvalidInput("must be a date and time", hint=hint)
        try:
            moment = datetime.fromisoformat(value)
            offset = moment.utcoffset()
            found = 0 if offset is None else to_millis(moment)
        except (ValueError, OverflowError):
            raise InvalidInput("must be a date and time", hint=hint) from None
        if offset is None:
            raise InvalidInput("must state its offset from UTC", hint=hint)
        if not 0 <= found <= NEVER:
            raise InvalidInput("must be between the years 1970 and 9999", hint=hint)
        return found


class DurationKind(Kind):
    """A number with its unit in a document, milliseconds in Python."""

    python = "str"

    def schema(self) -> Schema:
        return {"type": "string"}

    def read(self, value: Any) -> int:
        return read_duration(value)


@dataclass(frozen=True, slots=True)
class ListOf(Kind):
    """Several of a kind."""

    item: Kind
    info: FieldInfo = FieldInfo()

    @property
    def python(self) -> str:  # type: ignore[override]
        return f"list[{self.item.python}]"

    def schema(self) -> Schema:
        bounds = {"minItems": self.info.min_length, "maxItems": self.info.max_length}
        found = {"type": "array", "items": self.item.schema()}
        return found | {key: each for key, each in bounds.items() if each is not None}

    def read(self, value: Any) -> list[Any]:
        if not isinstance(value, list):
            raise InvalidInput("must be a list")
        least, most = self.info.min_length or 0, self.info.max_length
        if len(value) < least or (most is not None and len(value) > most):
            bound = f"at least {least}" if most is None else f"between {least} and {most}"
            raise InvalidInput(f"must have {bound} item{'s'[: (most or least) > 1]}")
        found, wrong = [], list[InvalidInput]()
        for number, each in enumerate(value):
            try:
                found.append(self.item.read(each))
            except InvalidInput as error:
                wrong += located(error, str(number)).all
        if wrong:
            raise wrong[0].along_with(wrong[1:])
        return found

    def records(self) -> Iterator[type[Record]]:
        return self.item.records()


@dataclass(frozen=True, slots=True)
class MapOf(Kind):
    """Values of a kind by name."""

    item: Kind

    @property
    def python(self) -> str:  # type: ignore[override]
        return f"dict[str, {self.item.python}]"

    def schema(self) -> Schema:
        return {"type": "object", "additionalProperties": self.item.schema()}

    def read(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise InvalidInput("must be an object")
        return {name: self.item.read(each) for name, each in value.items()}

    def records(self) -> Iterator[type[Record]]:
        return self.item.records()


@dataclass(frozen=True, slots=True)
class AnyOf(Kind):
    """One of several kinds. Where several are records, the domain reads the value, not we."""

    kinds: Sequence[Kind]

    @property
    def python(self) -> str:  # type: ignore[override]
        # A key that may not read is answered with less: the type is what one that may read gets.
        shown = [each for each in self.kinds if not is_null(each)][:1]
        return " | ".join([*(each.python for each in shown), *(["None"] if self.null else [])])

    @property
    def null(self) -> bool:
        """Whether null is one of them."""
        return any(map(is_null, self.kinds))

    @property
    def some(self) -> Kind:
        """The one that is not null."""
        return next(each for each in self.kinds if not is_null(each))

    def schema(self) -> Schema:
        return {"anyOf": [each.schema() for each in self.kinds]}

    def read(self, value: Any) -> Any:
        if value is None and self.null:
            return None
        is_plain = sum(not is_null(each) for each in self.kinds) == 1
        return self.some.read(value) if is_plain else value

    def from_text(self, text: str) -> Any:
        return self.some.from_text(text)

    def records(self) -> Iterator[type[Record]]:
        for each in self.kinds:
            yield from each.records()


class Null(Kind):
    """Nothing."""

    python = "None"

    def schema(self) -> Schema:
        return {"type": "null"}


def is_null(kind: Kind) -> bool:
    """Whether it is the kind of nothing."""
    return isinstance(kind, Null)


#: An instant: RFC 3339 in documents, milliseconds in handlers.
Instant: TypeAlias = Annotated[int, InstantKind()]
#: A duration: "5m" in documents, milliseconds in handlers.
Duration: TypeAlias = Annotated[int, DurationKind()]
Json: TypeAlias = Any


def located(error: InvalidInput, name: str) -> InvalidInput:
    """The same error in a field of a larger document, and its others."""
    found = [
        InvalidInput(
            each.reason, field=f"{name}.{each.field}" if each.field else name, hint=each.hint
        )
        for each in error.all
    ]
    return found[0].along_with(found[1:])


def _range(info: FieldInfo) -> Schema:
    bounds = {"minimum": info.ge, "maximum": info.le}
    return {key: each for key, each in bounds.items() if each is not None}


def _between(info: FieldInfo) -> str:
    if info.ge is None and info.le is None:
        return ""
    if info.le is None:
        return f" of at least {info.ge:g}"
    return f" up to {info.le}" if info.ge is None else f" between {info.ge} and {info.le}"


def _check_range(value: float, info: FieldInfo) -> None:
    if (info.ge is not None and value < info.ge) or (info.le is not None and value > info.le):
        raise InvalidInput(f"must be{_between(info)}")
