"""The description of the API: OpenAPI 3.1, from the declared operations."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

from tickwell.api.http.route import ROOT, HttpOperation
from tickwell.api.routes import ALL
from tickwell.services.operations.declaration import Operation
from tickwell.services.operations.records.service import Problem
from tickwell.services.operations.schema import Record, all_records, fields_of, reference, schema_of
from tickwell.web.authentication import PUBLIC

_ABOUT = """Jobs, when they fire, and the outcome of each fire time.

Errors are `application/problem+json`. Lists are paged by `next_cursor`. A POST with an
`Idempotency-Key` may be repeated. Instants are RFC 3339 in UTC; durations are "5m" or
milliseconds."""
_IDEMPOTENCY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "A repeated request with the same key is done once and answered again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}
_IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "description": "The ETag of the job that was read, or * to overwrite any version.",
    "schema": {"type": "string"},
    "example": '"1"',
}
_REFUSALS = {
    "400": "The body is not JSON, or has a key twice.",
    "401": "No valid credentials.",
    "403": "The role does not allow it.",
    "404": "No such record in this project.",
    "409": "The record is not in the state that this needs.",
    "412": "The record is not the one that If-Match names.",
    "413": "The body is too large.",
    "415": "The Content-Type of the body is not JSON.",
    "422": "The input is invalid; `errors` says where.",
    "428": "If-Match is required.",
    "429": "A limit is reached; Retry-After says for how long.",
    "503": "The store is not available.",
}


@cache
def document() -> dict[str, Any]:
    """The whole description, built at the first request for it."""
    described = [each for each in ALL if getattr(each, "is_described", True)]
    paths: dict[str, Any] = {}
    for each in described:
        path = each.path if each.at_root else ROOT + each.path
        paths.setdefault(path, {})[each.method.lower()] = _operation(each)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Tickwell", "description": _ABOUT, "version": "1"},
        "paths": paths,
        "components": {
            "schemas": {
                name: schema_of(record) for name, record in all_records(_records(described)).items()
            },
            "securitySchemes": {
                "key": {"type": "http", "scheme": "bearer"},
                "key_header": {"type": "apiKey", "in": "header", "name": "x-api-key"},
            },
        },
    }


def _records(operations: Iterable[Operation]) -> set[type[Record]]:
    found: set[type[Record]] = {Problem}
    for each in operations:
        found |= {each.answer} | ({each.body} if each.body else set())
    return found


def _operation(operation: Operation) -> dict[str, Any]:
    found: dict[str, Any] = {
        "tags": [operation.tag],
        "summary": operation.id.replace("_", " ").capitalize(),
        "description": operation.about,
        "operationId": operation.id,
        "parameters": _parameters(operation),
        "responses": {str(operation.status): _answer(operation)},
        "x-permission": operation.permission or PUBLIC,
    }
    if operation.audit:
        found["x-audit"] = operation.audit
    if operation.body is not None:
        content: dict[str, Any] = {"schema": reference(operation.body)}
        if operation.example is not None:
            content["example"] = operation.example
        found["requestBody"] = {
            "required": operation.body_required,
            "content": {operation.body_type: content},
        }
    for status, text in _REFUSALS.items():
        if _may(status, operation):
            content = {"application/problem+json": {"schema": reference(Problem)}}
            found["responses"][status] = {"description": text, "content": content}
    if operation.permission is not None:
        found["security"] = [{"key": []}, {"key_header": []}]
    return found


def _parameters(operation: Operation) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in operation.path_names
    ]
    for each in fields_of(operation.query) if operation.query else ():
        schema = each.schema()
        about = {"description": schema.pop("description")} if "description" in schema else {}
        found.append(
            {"name": each.name, "in": "query", "required": each.required, "schema": schema} | about
        )
    if operation.if_match is not None:
        found.append(_IF_MATCH | {"required": operation.if_match})
    if operation.takes_key:
        found.append(_IDEMPOTENCY)
    return found


def _answer(operation: Operation) -> dict[str, Any]:
    if isinstance(operation, HttpOperation) and operation.content is not None:
        return operation.content
    schema = reference(operation.answer)
    return {"description": "Done.", "content": {"application/json": {"schema": schema}}}


def _may(status: str, operation: Operation) -> bool:
    """Whether an operation can answer like this."""
    if operation.permission is None:
        bodies = {"400", "401", "413", "415", "422", "429"} if operation.method == "POST" else set()
        named = {"404", "409"} if operation.path_names else set()
        return status in {"503", *bodies, *named}
    if status in {"413", "415"}:
        return operation.takes_body
    if status in {"412", "428"}:
        return operation.if_match is not None
    return status != "409" or operation.method != "GET"
