"""The API reference as data for its page: operations by topic, then the records that they use."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from markupsafe import Markup

Document = Mapping[str, Any]
#: Enough of a list of values to recognise it; the schema has all of them.
_MOST_VALUES = 12
_WITHOUT_END = "text/event-stream"


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """A parameter of an operation, or a property of a record."""

    name: str
    #: Its type in words, with links to records.
    type: Markup
    about: Markup
    required: bool
    #: `path`, `query` or `header`; empty for a property.
    location: str = ""
    default: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One operation."""

    id: str
    method: str
    path: str
    summary: str
    about: Markup
    permission: str
    fields: list[Field]
    #: The record of its body, as a link; empty without a body.
    body: Markup
    body_type: str
    example: str
    answers: list[tuple[str, Markup, Markup]]
    curl: str
    #: Whether its answer has an end, so that a form can show it.
    ends: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordEntry:
    """One record, with its properties."""

    name: str
    about: Markup
    fields: list[Field]
    #: For a record without properties of its own: what it is.
    type: Markup


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """Everything that the page shows."""

    topics: dict[str, list[Entry]] = field(default_factory=dict)
    records: list[RecordEntry] = field(default_factory=list)


def read_reference(document: Document) -> Reference:
    """The reference of an OpenAPI document."""
    found = Reference()
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            entry = _entry(method.upper(), path, operation)
            found.topics.setdefault(operation["tags"][0], []).append(entry)
    for name, schema in sorted(document["components"]["schemas"].items()):
        found.records.append(
            RecordEntry(
                name=name,
                about=_prose(schema.get("description", "")),
                fields=_properties(schema),
                type=_type(schema),
            )
        )
    return found


def _entry(method: str, path: str, operation: Document) -> Entry:
    content: dict[str, dict[str, Any]] = operation.get("requestBody", {}).get("content", {})
    body_type = next(iter(content), "")
    body = content.get(body_type, {})
    example = body.get("example", {}) if content else None
    return Entry(
        id=operation["operationId"],
        method=method,
        path=path,
        summary=operation["summary"],
        about=_prose(operation["description"]),
        permission=operation["x-permission"],
        fields=[
            _field(each["name"], each["schema"], each, location=each["in"])
            for each in operation["parameters"]
        ],
        body=_type(body["schema"]) if content else Markup(),
        body_type=body_type,
        example="" if example is None else json.dumps(example, indent=2, ensure_ascii=False),
        answers=[
            (status, _prose(answer["description"]), _answer_type(answer))
            for status, answer in sorted(operation["responses"].items())
        ],
        curl=_curl(method, path, operation, body_type, example),
        ends=_WITHOUT_END not in operation["responses"].get("200", {}).get("content", {}),
    )


def _answer_type(answer: Document) -> Markup:
    schemas = [each["schema"] for each in answer.get("content", {}).values() if "schema" in each]
    return _type(schemas[0]) if schemas else Markup()


def _field(name: str, schema: Document, about: Document, *, location: str = "") -> Field:
    default = schema.get("default")
    return Field(
        name=name,
        type=_type(schema),
        about=_prose(about.get("description", "")),
        required=about.get("required", False),
        location=location,
        default=None if default in (None, [], {}, "") else json.dumps(default),
    )


def _properties(schema: Document) -> list[Field]:
    required = schema.get("required", ())
    return [
        _field(
            name,
            each,
            {"description": each.get("description", ""), "required": name in required},
        )
        for name, each in schema.get("properties", {}).items()
    ]


def _type(schema: Document) -> Markup:
    """What a schema allows, in words; a record is a link to its description."""
    for key, read in _READERS.items():
        if key in schema:
            return read(schema[key])
    kind = schema.get("type", "any JSON value")
    if kind == "array":
        return Markup("list of ") + _type(schema.get("items", {}))
    if kind == "object":
        return _object(schema)
    limits = " to ".join(str(schema[each]) for each in ("minimum", "maximum") if each in schema)
    words = f"{kind}, {limits}" if limits else kind
    if "maximum" not in schema and "minimum" in schema:
        words += " or more"
    if "maxLength" in schema:
        words += f", at most {schema['maxLength']} characters"
    return Markup.escape(f"{words} ({schema['format']})" if "format" in schema else words)


def _object(schema: Document) -> Markup:
    if "properties" in schema:
        return Markup("object with ") + Markup(", ").join(
            Markup("<code>{}</code>").format(name) for name in schema["properties"]
        )
    values = schema.get("additionalProperties")
    return Markup("object") + (Markup(" of ") + _type(values) if isinstance(values, dict) else "")


def _prose(text: str) -> Markup:
    """A sentence; what it has in backticks is code."""
    parts = [Markup.escape(part) for part in text.split("`")]
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if number % 2 else part
        for number, part in enumerate(parts)
    )


def _reference(pointer: str) -> Markup:
    name = pointer.rpartition("/")[2]
    return Markup('<a href="#record-{0}">{0}</a>').format(name)


def _one_of(schemas: list[Document]) -> Markup:
    return Markup(" or ").join(_type(each) for each in schemas)


def _values(values: list[Any]) -> Markup:
    shown = Markup(", ").join(
        Markup("<code>{}</code>").format(json.dumps(each)) for each in values[:_MOST_VALUES]
    )
    return shown + (", …" if len(values) > _MOST_VALUES else "")


_READERS: Mapping[str, Callable[[Any], Markup]] = {
    "$ref": _reference,
    "anyOf": _one_of,
    "enum": _values,
    "const": lambda value: _values([value]),
}


def _curl(method: str, path: str, operation: Document, body_type: str, example: Any) -> str:
    needed = {
        each["name"]: each["name"].upper()
        for each in operation["parameters"]
        if each["in"] == "query" and each["required"]
    }
    shown = path.replace("{", "$").replace("}", "")
    query = f"?{urlencode(needed)}" if needed else ""
    words = [f'curl {"" if method == "GET" else f"-X {method} "}"$TICKWELL_SERVER{shown}{query}"']
    if "security" in operation:
        words.append('-H "Authorization: Bearer $TICKWELL_KEY"')
    words += [
        "-H " + shlex.quote(f"{each['name']}: {each.get('example', '*')}")
        for each in operation["parameters"]
        if each["in"] == "header" and each["required"]
    ]
    if body_type:
        words.append(f'-H "Content-Type: {body_type}"')
        words.append(f"-d {shlex.quote(json.dumps(example, ensure_ascii=False))}")
    return " \\\n  ".join(words)
