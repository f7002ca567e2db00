"""Writes the typed clients from the declared operations.

`python -m scripts.clients` brings `src/tickwell/client` up to date; a test says whether it is.
"""

import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from tickwell.api.routes import ALL
from tickwell.services.operations.declaration import Operation
from tickwell.services.operations.records.job import NewJob
from tickwell.services.operations.schema import Field, Nested, Output, Record, fields_of
from tickwell.services.operations.value_kinds import (
    AnyOf,
    Choice,
    DurationKind,
    Flag,
    InstantKind,
    Kind,
    ListOf,
    MapOf,
    Real,
    Text,
    Whole,
)

CLIENT = Path(__file__).parent.parent / "src" / "tickwell" / "client"
MARK = "# Written by scripts/clients.py from the declared operations; edit those instead.\n"
#: Streams are read by `tickwell.client.stream`.
STREAMS = {"stream_events"}
_HELPERS = "Call, Instant, duration, fields, instant, request, set_fields, texts"
_PAGE = '''class Page(TypedDict, Generic[T]):
    """A part of a list; `next_cursor` starts the next part."""

    items: list[T]
    next_cursor: str | None

'''
#: The filter of an operation on many: its fields are arguments of their own.
FLATTENED = "filter"


def files() -> dict[Path, str]:
    """What each generated file should contain."""
    operations = [each for each in ALL if each.in_clients and each.id not in STREAMS]
    written = {
        CLIENT / "results.py": results(operations),
        CLIENT / "calls.py": calls(operations),
        CLIENT / "operations.py": methods(operations),
    }
    return {path: _formatted(text, path) for path, text in written.items()}


def results(operations: list[Operation]) -> str:
    """The module of answers: a `TypedDict` for each record."""
    event = next(each.answer for each in ALL if each.id in STREAMS)
    found: dict[str, type[Record]] = {}
    for record in [*(each.answer for each in operations), event]:
        _collect(record, found)
    parts = [
        '"""What operations answer: documents of the API. Instants are strings in RFC 3339."""\n',
        MARK,
        "from __future__ import annotations\n",
        "from typing import Any, Generic, Literal, NotRequired, TypedDict, TypeVar\n",
        'T = TypeVar("T")\n\n',
        'class Items(TypedDict, Generic[T]):\n    """A whole list."""\n\n    items: list[T]\n\n',
        _PAGE,
        _typed_dict("Definition", NewJob),
        *(_typed_dict(name, record) for name, record in found.items()),
    ]
    return "\n".join(parts)


def _collect(record: type[Record], found: dict[str, type[Record]]) -> None:
    for each in fields_of(record):
        for inner in each.kind.records():
            if issubclass(inner, Output) and inner.__name__ not in found:
                _collect(inner, found)
    if _item(record) is None:
        found.setdefault(record.__name__, record)


def _typed_dict(name: str, record: type[Record]) -> str:
    about = (record.__doc__ or "").strip()
    fields = [(each.name, _field_type(each)) for each in fields_of(record)]
    if all(name.isidentifier() for name, _ in fields):
        lines = "\n".join(f"    {name}: {kind}" for name, kind in fields)
        end = "\n    " if "\n" in about else ""
        return f'class {name}(TypedDict):\n    """{about}{end}"""\n\n{lines}\n\n'
    inner = ", ".join(f'"{name}": {kind}' for name, kind in fields)
    return f'#: {about}\n{name} = TypedDict("{name}", {{{inner}}})\n\n'


def _field_type(field: Field) -> str:
    return field.kind.python if field.required else f"NotRequired[{field.kind.python}]"


def _item(record: type[Record]) -> str | None:
    """The type of a list that is a page or has no pages; None: it is a record of its own."""
    fields = {each.name: each for each in fields_of(record)}
    if fields.keys() not in ({"items"}, {"items", "next_cursor"}):
        return None
    kind = fields["items"].kind
    inner = kind.item.python if isinstance(kind, ListOf) else "Any"
    return f"{'Page' if 'next_cursor' in fields else 'Items'}[{inner}]"


def calls(operations: list[Operation]) -> str:
    """The module of requests: a function for each operation."""
    text = "\n\n".join(_call(each) for each in operations)
    names = sorted({name for each in operations for name in _names(each)})
    return "\n".join(
        [
            '"""A request for each operation, built from its arguments."""\n',
            MARK,
            "from __future__ import annotations\n",
            "from collections.abc import Mapping, Sequence",
            "from typing import Any\n",
            f"from tickwell.client.call import ({_HELPERS})",
            f"from tickwell.client.results import Definition, {', '.join(names)}",
            "from tickwell.domain.payload import KEEP",
            "from tickwell.domain.trigger.duration import Duration\n",
            "#: A literal document is checked by its type; what was read from a file is a mapping.",
            "Given = Definition | Mapping[str, Any]\n\n",
            text,
        ]
    )


def _names(operation: Operation) -> Iterator[str]:
    """The results that an answer's type mentions."""
    words = _answer(operation).replace("[", " ").replace("]", " ").split()
    yield from (word for word in words if word[0].isupper())


def _answer(operation: Operation) -> str:
    return _item(operation.answer) or operation.answer.__name__


def _call(operation: Operation) -> str:
    positional, keywords = _arguments(operation)
    star = ["*"] if keywords else []
    signature = ", ".join([*positional, *star, *keywords])
    about = operation.about
    more = "\n    " if "\n" in about else ""
    about = "\n".join(f"    {line}".rstrip() for line in about.split("\n")).strip()
    return (
        f"def {operation.id}({signature}) -> Call[{_answer(operation)}]:\n"
        f'    """{about}{more}"""\n'
        f"    return request({', '.join(_request(operation))})\n"
    )


def _arguments(operation: Operation) -> tuple[list[str], list[str]]:
    """Those that may be given by position, and those that are given by name."""
    positional = [f"{name}: str" for name in operation.path_names]
    keywords: list[str] = []
    if operation.argument:
        kinds = {"definitions": "Sequence[Given]", "patch": "Mapping[str, Any]"}
        positional.append(f"{operation.argument}: {kinds.get(operation.argument, 'Given')}")
    optional: list[str] = []
    for each in _inputs(operation):
        kind = _argument_type(each.kind)
        if each.required:
            positional.append(f"{each.attribute}: {kind}")
        elif each.attribute in operation.positional:
            optional.append(f"{each.attribute}: {_optional(each, kind)}")
        else:
            keywords.append(f"{each.attribute}: {_optional(each, kind)}")
    if operation.if_match is not None:
        keywords.append("version: int | None" + ("" if operation.if_match else " = None"))
    if operation.takes_key:
        keywords.append("idempotency_key: str | None = None")
    return positional + optional, keywords


def _inputs(operation: Operation) -> Iterator[Field]:
    if operation.query is not None:
        yield from fields_of(operation.query)
    if operation.body is None or operation.argument:
        return
    for each in fields_of(operation.body):
        if each.name == FLATTENED:
            yield from _flattened(each)
        else:
            yield each


def _flattened(field: Field) -> Iterable[Field]:
    if not isinstance(field.kind, Nested):
        raise TypeError(f"{field.name} is not a record")
    return fields_of(field.kind.record)


def _optional(field: Field, kind: str) -> str:
    if field.info.keeps_null:
        return f"{kind} = KEEP"
    if isinstance(field.kind, Flag):
        return "bool = False"
    if kind == "Any":
        return "Any = None"
    return f"{kind.removesuffix(' | None')} | None = None"


def _argument_type(kind: Kind) -> str:
    if isinstance(kind, AnyOf):
        plain = [each for each in kind.kinds if each.python != "None"]
        inner = _argument_type(plain[0]) if len(plain) == 1 else "Mapping[str, Any]"
        return f"{inner} | None" if kind.null else inner
    if isinstance(kind, ListOf):
        return f"Sequence[{_argument_type(kind.item)}]"
    if isinstance(kind, MapOf | Nested):
        return "Mapping[str, Any]"
    names: dict[type[Kind], str] = {
        Text: "str",
        Choice: "str",
        Whole: "int",
        Real: "float",
        Flag: "bool",
        InstantKind: "Instant",
        DurationKind: "Duration",
    }
    return names.get(type(kind), "Any")


def _request(operation: Operation) -> Iterator[str]:
    root = "" if operation.at_root else "/api/v1"
    yield f'"{operation.id}", "{operation.method}", "{root}{operation.path}"'
    if operation.path_names:
        pairs = ", ".join(f'"{name}": {name}' for name in operation.path_names)
        yield f"arguments={{{pairs}}}"
    if operation.query is not None:
        yield f"query=fields({_pairs(fields_of(operation.query))})"
    if operation.argument:
        whole = operation.argument
        yield f'body={{"jobs": list({whole})}}' if whole == "definitions" else f"body={whole}"
    elif operation.body is not None:
        yield f"body={_body(operation.body)}"
    if operation.if_match is not None:
        # Without an If-Match any version will do; where one is required, `*` says so.
        yield "version=version"
        if operation.if_match:
            yield "any_version=True"
    if operation.body_type != "application/json":
        yield f'content_type="{operation.body_type}"'
    if operation.takes_key:
        yield "idempotency_key=idempotency_key"
    elif _is_repeatable(operation):
        yield "repeatable=True"


def _is_repeatable(operation: Operation) -> bool:
    """Whether it may be sent again after a lost answer, without an idempotency key."""
    return operation.method == "GET" or (
        operation.method in {"PUT", "PATCH"} and operation.if_match is None
    )


def _body(record: type[Record]) -> str:
    plain, kept = list[Field](), list[Field]()
    for each in fields_of(record):
        (kept if each.info.keeps_null else plain).append(each)
    found = f"fields({_pairs(plain)})"
    if kept:
        pairs = ", ".join(f"{each.attribute}={each.attribute}" for each in kept)
        found += f" | set_fields({pairs})"
    return found


def _pairs(fields: Iterable[Field]) -> str:
    return ", ".join(f"{each.attribute}={_value(each)}" for each in fields)


def _value(field: Field) -> str:
    name = field.attribute
    if name == FLATTENED:
        return f"fields({_pairs(_flattened(field))})"
    kind = field.kind
    if isinstance(kind, AnyOf) and len(kind.kinds) == 2:
        kind = kind.some
    if isinstance(kind, InstantKind):
        return f'instant({name}, "{name}")'
    if isinstance(kind, DurationKind):
        return f'duration({name}, "{name}")'
    return f"texts({name})" if isinstance(kind, ListOf) else name


def methods(operations: list[Operation]) -> str:
    """The module of the class that both clients derive from."""
    lines = [f"    {each.id} = Operation(calls.{each.id})" for each in operations]
    paged = [each for each in operations if "cursor" in _query_names(each)]
    lines += [""] + [f"    {_iteration(each.id)} = Listing(calls.{each.id})" for each in paged]
    return "\n".join(
        [
            '"""Every operation of the API by its id, and lists that are read to their end."""\n',
            MARK,
            "from __future__ import annotations\n",
            "from tickwell.client import calls",
            "from tickwell.client.operation import Listing, Operation\n\n",
            "class Operations:",
            '    """The methods of both clients; `tickwell.client.calls` has their arguments."""\n',
            *lines,
            "",
        ]
    )


def _query_names(operation: Operation) -> set[str]:
    return {each.name for each in fields_of(operation.query)} if operation.query else set()


def _iteration(name: str) -> str:
    return f"iter_{name.removeprefix('list_').removeprefix('job_')}"


def _formatted(text: str, path: Path) -> str:
    ruff = [sys.executable, "-m", "ruff"]
    named = ["--stdin-filename", str(path), "-"]
    for command in (["check", "--fix", "--quiet", "--select", "I,F401"], ["format", "--quiet"]):
        done = subprocess.run(
            [*ruff, *command, *named], input=text, capture_output=True, text=True, check=True
        )
        text = done.stdout
    return text


if __name__ == "__main__":
    for path, text in files().items():
        path.write_text(text, "utf-8")
