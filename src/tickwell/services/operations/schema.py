"""Records of the API: one class says what is read, what is refused, and how it is documented.

A class that derives from `Input` reads a request and reports all of its mistakes at once; one that
derives from `Output` describes an answer. OpenAPI and the types of the clients come from the same
annotations. Nothing but the standard library is needed, because the command line uses it too.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    Union,
    get_args,
    get_origin,
    get_type_hints,
)

from tickwell.errors import InvalidInput
from tickwell.services.operations.value_kinds import (
    INSTANT_EXAMPLE,
    MISSING,
    OMITTED,
    AnyOf,
    Choice,
    Duration,
    FieldInfo,
    Flag,
    Instant,
    InstantKind,
    Json,
    Kind,
    ListOf,
    MapOf,
    Null,
    Real,
    Schema,
    Text,
    Whole,
    field,
    located,
)

__all__ = [
    "OMITTED",
    "Duration",
    "Field",
    "Input",
    "Instant",
    "Json",
    "Output",
    "Record",
    "all_records",
    "field",
    "fields_of",
    "kind_of",
    "reference",
    "schema_of",
]
#: Maximum mistakes of one answer.
_MOST_WRONG = 20


@dataclass(frozen=True, slots=True)
class Nested(Kind):
    """A record."""

    record: type[Record]

    @property
    def python(self) -> str:  # type: ignore[override]
        return self.record.__name__ if issubclass(self.record, Output) else "dict[str, Any]"

    def schema(self) -> Schema:
        return reference(self.record)

    def read(self, value: Any) -> Any:
        return self.record.read(value)

    def records(self) -> Iterator[type[Record]]:
        yield self.record


@dataclass(frozen=True, slots=True)
class Field:
    """A field of a record, with all that its class says of it."""

    #: In documents, and in Python.
    name: str
    attribute: str
    kind: Kind
    info: FieldInfo

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.info.default is MISSING

    @property
    def reads_null(self) -> bool:
        """Whether null stands for its default; a number or a record is never null by accident."""
        return not self.required and not isinstance(self.kind, Whole | Real | Nested)

    @property
    def default(self) -> Any:
        """What it is where a document does not have it."""
        found = self.info.default
        if found is OMITTED:
            return self.kind.record() if isinstance(self.kind, Nested) else None
        return found.copy() if isinstance(found, list | dict) else found

    def schema(self) -> Schema:
        """As JSON Schema has it."""
        found, info = self.kind.schema(), self.info
        if info.default is not MISSING and _is_json(info.default):
            found["default"] = info.default
        if info.example is not MISSING:
            found["examples"] = [info.example]
        if info.description:
            found["description"] = info.description
        return found


class Record:
    """An object of a document. Its fields are annotations, in the order that documents have."""

    #: Whether documents may have fields that are not listed.
    open: ClassVar[bool] = True

    def __init__(self, **raw: Any) -> None:
        for each in fields_of(type(self)):
            value = raw.get(each.attribute, each.default)
            setattr(self, each.attribute, value)

    @classmethod
    def read(cls, document: Any) -> Self:
        """The record of an object; `InvalidInput` has all that is wrong with it."""
        if not isinstance(document, dict):
            raise InvalidInput("must be an object")
        wrong = list[InvalidInput]()
        found = cls.__new__(cls)
        known = _by_name(cls)
        for name in document.keys() - known.keys():
            hint = f"Expected {', '.join(known)}" if known else "Send no body"
            wrong.append(InvalidInput("unknown field", field=str(name), hint=hint))
        for each in known.values():
            value = document.get(each.name, MISSING)
            if value is MISSING or (value is None and each.reads_null):
                if each.required:
                    wrong.append(_missing(each))
                keep = value is None and each.info.keeps_null
                setattr(found, each.attribute, None if keep else each.default)
                continue
            try:
                setattr(found, each.attribute, each.kind.read(value))
            except InvalidInput as error:
                wrong += located(error, each.name).all
            if len(wrong) >= _MOST_WRONG:
                break
        if wrong:
            raise wrong[0].along_with(wrong[1:])
        return found

    @classmethod
    def read_query(cls, pairs: Iterable[tuple[str, str]]) -> Self:
        """The record of query parameters; those that may be several are repeated."""
        document: dict[str, Any] = {}
        wrong = list[InvalidInput]()
        known = _by_name(cls)
        for name, text in pairs:
            if name not in known:
                hint = f"Expected {', '.join(known)}"
                wrong.append(InvalidInput("unknown parameter", field=name, hint=hint))
                continue
            kind = known[name].kind
            try:
                if isinstance(kind, ListOf):
                    document.setdefault(name, []).append(kind.item.from_text(text))
                else:
                    document[name] = kind.from_text(text)
            except InvalidInput as error:
                wrong.append(located(error, name))
        wrong += [_missing(each) for each in known.values() if each.required]
        wrong = [each for each in wrong if each.reason != _ABSENT or each.field not in document]
        if wrong:
            raise wrong[0].along_with(wrong[1:])
        found = cls.__new__(cls)
        for each in known.values():
            setattr(found, each.attribute, document.get(each.name, each.default))
        return found


class Input(Record):
    """An object of a request: unknown fields are refused."""

    open = False


class Output(Record):
    """An object of an answer: later versions may add fields."""


_ABSENT = "is missing"


#: The fields of records by name, collected when a record is first used: annotations may name
#: records that are defined later.
_FIELDS: dict[type[Record], dict[str, Field]] = {}


def fields_of(record: type[Record]) -> Sequence[Field]:
    """All fields of a record, those of its bases first."""
    return tuple(_by_name(record).values())


def _by_name(record: type[Record]) -> Mapping[str, Field]:
    known = _FIELDS.get(record)
    if known is None:
        known = _FIELDS[record] = _collected(record)
    return known


def _collected(record: type[Record]) -> dict[str, Field]:
    found: dict[str, Field] = {}
    for name, hint in _hints(record).items():
        raw = getattr(record, name, MISSING)
        info = raw if isinstance(raw, FieldInfo) else FieldInfo(default=raw)
        named = info.alias or name
        found[named] = Field(named, name, kind_of(hint, info), info)
    return found


def _hints(record: type[Record]) -> dict[str, Any]:
    hints = get_type_hints(record, include_extras=True)
    bases = [base for base in reversed(record.__mro__) if issubclass(base, Record)]
    names = dict.fromkeys(name for base in bases for name in vars(base).get("__annotations__", {}))
    return {name: hints[name] for name in names if get_origin(hints[name]) is not ClassVar}


def kind_of(hint: Any, info: FieldInfo | None = None) -> Kind:
    """The kind of value that an annotation names."""
    info = info or FieldInfo()
    if get_origin(hint) is Annotated:
        return _annotated(hint, info)
    if hint in _SCALARS:
        made = _SCALARS[hint]
        return made(info) if made in {Text, Whole, Real} else made()
    if isinstance(hint, type) and issubclass(hint, StrEnum):
        return Choice([each.value for each in hint], hint)
    return (
        Nested(hint) if isinstance(hint, type) and issubclass(hint, Record) else _made(hint, info)
    )


def _made(hint: Any, info: FieldInfo) -> Kind:
    origin, args = get_origin(hint), get_args(hint)
    if origin in {UnionType, Union}:
        return AnyOf(tuple(kind_of(each, info) for each in args))
    if origin is Literal:
        return Choice(args)
    if origin is list:
        return ListOf(kind_of(args[0]), info)
    if origin is dict:
        return MapOf(kind_of(args[1]))
    raise TypeError(f"{hint!r} is no kind of value")


def _annotated(hint: Any, info: FieldInfo) -> Kind:
    inner, *marks = get_args(hint)
    for mark in marks:
        if isinstance(mark, Kind):
            return mark
        if isinstance(mark, FieldInfo):
            info = replace(mark, default=info.default)
    return kind_of(inner, info)


_SCALARS: dict[Any, type[Kind] | Any] = {
    str: Text,
    int: Whole,
    float: Real,
    bool: Flag,
    Any: Kind,
    NoneType: Null,
}


def reference(record: type[Record]) -> Schema:
    """Where the schema of a record is found in OpenAPI."""
    return {"$ref": f"#/components/schemas/{record.__name__}"}


def schema_of(record: type[Record]) -> Schema:
    """A record as JSON Schema has it."""
    fields = fields_of(record)
    found: Schema = {
        "type": "object",
        "title": record.__name__,
        "description": (record.__doc__ or "").replace("\n    ", "\n"),
        "properties": {each.name: each.schema() for each in fields},
    }
    required = [each.name for each in fields if each.required]
    if required:
        found["required"] = required
    if not record.open:
        found["additionalProperties"] = False
    return found


def all_records(roots: Iterable[type[Record]]) -> dict[str, type[Record]]:
    """Records by name, with all that they are made of."""
    found: dict[str, type[Record]] = {}
    waiting = list(roots)
    while waiting:
        record = waiting.pop()
        if found.setdefault(record.__name__, record) is not record:
            raise TypeError(f"two records are named {record.__name__}")
        inner = [one for each in fields_of(record) for one in each.kind.records()]
        waiting += [
            each for each in inner if each.__name__ not in found or found[each.__name__] is not each
        ]
    return dict(sorted(found.items()))


def _missing(field: Field) -> InvalidInput:
    example = field.info.example
    if isinstance(field.kind, InstantKind):
        example = INSTANT_EXAMPLE
    hint = "" if example is MISSING else f"For example {example}"
    if isinstance(field.kind, Choice):
        hint = f"Expected one of {', '.join(map(str, field.kind.words))}"
    return InvalidInput(_ABSENT, field=field.name, hint=hint)


def _is_json(value: Any) -> bool:
    return value is None or isinstance(value, str | int | float | bool | list | dict)
