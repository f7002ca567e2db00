"""The reference of the REST API as a page, from the description that the service answers with."""

import json
from itertools import groupby
from random import Random
from typing import Any

from tickwell.api.app import create_app
from tickwell.clock import StoreClock
from tickwell.domain.health import ProcessHealth
from tickwell.services.operations import OperationContext
from tickwell.stores.memory import MemoryStore
from tickwell.web.context import Context

INTRO = """# REST API reference

Every operation, as `/api/v1/openapi.json` of your service describes it. \
[REST API](../api.md) explains what they have in common: authentication, errors, lists, \
idempotency. A field in **bold** is required.
"""

Document = dict[str, Any]


def description() -> Document:
    """OpenAPI of a service without jobs."""
    operation_context = OperationContext(
        store=MemoryStore(), clock=StoreClock(), random=Random(1), wake=lambda: None
    )
    return create_app(
        Context.over(operation_context, health=lambda: ProcessHealth(ok=True))
    ).openapi()


def rest_page(document: Document) -> str:
    """Operations by subject, then the records that they read and answer."""
    parts = [INTRO]
    found = [
        (operation["tags"][0], path, method, operation)
        for path, methods in document["paths"].items()
        for method, operation in methods.items()
    ]
    for tag, group in groupby(sorted(found, key=lambda each: each[0]), key=lambda each: each[0]):
        parts.append(f"## {tag.capitalize()}")
        for _, path, method, operation in group:
            parts += _operation(path, method, operation)
    parts.append("## Records")
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts += _record(name, schema)
    return "\n\n".join(part for part in parts if part) + "\n"


def _operation(path: str, method: str, operation: Document) -> list[str]:
    parts = [f"### {operation['summary']}", f"```\n{method.upper()} {path}\n```"]
    parts.append(operation.get("description", ""))
    permission = operation.get("x-permission")
    facts = [f"Permission: `{permission}`."] if permission else []
    if audit := operation.get("x-audit"):
        facts.append(f"Audit entry: `{audit}`.")
    parts.append(" ".join(facts))
    rows = [
        (each["name"], each["required"], each["in"], each["schema"], each.get("description", ""))
        for each in operation.get("parameters", ())
    ]
    if rows:
        lines = ["| parameter | in | type | meaning |", "|---|---|---|---|"]
        lines += [
            f"| {_name(name, required)} | {where} | {_type(schema)} | {_cell(text)} |"
            for name, required, where, schema, text in rows
        ]
        parts.append("\n".join(lines))
    if body := operation.get("requestBody"):
        for content in body["content"].values():
            needed = "" if body.get("required") else ", optional"
            parts.append(f"Body{needed}: {_type(content['schema'])}")
            if "example" in content:
                parts.append(f"```json\n{json.dumps(content['example'], indent=2)}\n```")
    parts.append(_answers(operation["responses"]))
    return parts


def _answers(responses: Document) -> str:
    """What it answers when all is well, and the status of each problem."""
    good, problems = [], []
    for status, answer in responses.items():
        types = [_type(each["schema"]) for each in answer.get("content", {}).values() if each]
        if "[Problem](#problem)" in types:
            problems.append(f"`{status}`")
        else:
            good.append(f"`{status}` {_cell(answer['description'])} {' or '.join(types)}".strip())
    rest = f" A [Problem](#problem) with {', '.join(problems)}." if problems else ""
    return f"Answers: {'; '.join(good)}.{rest}".replace("..", ".")


def _record(name: str, schema: Document) -> list[str]:
    parts = [f"### {name}", schema.get("description", "")]
    if "properties" not in schema:
        return [*parts, _type(schema)]
    required = schema.get("required", ())
    lines = ["| field | type | meaning |", "|---|---|---|"]
    lines += [
        f"| {_name(field, field in required)} | {_type(inner)}"
        f" | {_cell(inner.get('description', ''))} |"
        for field, inner in schema["properties"].items()
    ]
    return [*parts, "\n".join(lines)]


def _name(name: str, required: bool) -> str:  # noqa: FBT001 - a fact of the table
    return f"**`{name}`**" if required else f"`{name}`"


def _type(schema: Document) -> str:  # noqa: PLR0911 - one line for each kind of schema
    """A type in a few words, with a link to its record."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
    for key in ("anyOf", "oneOf", "allOf"):
        if key in schema:
            return " or ".join(_type(each) for each in schema[key])
    if "enum" in schema:
        return ", ".join(f"`{each}`" for each in schema["enum"])
    if "const" in schema:
        return f"`{schema['const']}`"
    kinds = schema.get("type", "any")
    words = kinds if isinstance(kinds, str) else " or ".join(kinds)
    if "items" in schema:
        return f"list of {_type(schema['items'])}"
    values = schema.get("additionalProperties")
    if isinstance(values, dict) and values:
        return f"object of {_type(values)}"
    bounds = [
        f"{word} {schema[key]}"
        for key, word in (
            *(("minimum", "at least"), ("maximum", "at most")),
            *(("minLength", "at least"), ("maxLength", "at most")),
        )
        if schema.get(key)
    ]
    return f"{words}, {', '.join(bounds)}" if bounds else words


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
