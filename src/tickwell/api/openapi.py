"""The description of the API: OpenAPI 3.1, with what every operation shares filled in."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from pydantic.json_schema import models_json_schema

from tickwell.api.describe import BODIES, ONE_TIME
from tickwell.api.models.base import Problem
from tickwell.web.route_permission import PUBLIC

_ABOUT = """Jobs, when they fire, and what became of each fire time.

Errors are `application/problem+json`. Lists are read by `next_cursor`. A POST with an
`Idempotency-Key` may be sent again. Instants are RFC 3339 in UTC; durations are "5m" or
milliseconds."""
_IDEMPOTENCY = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "Sent again with the same key, the request is answered again and done once.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
}
_REFUSALS = {
    "400": "The body is no JSON, or a key came twice.",
    "401": "Nobody that can be believed asks.",
    "403": "The role does not allow it.",
    "404": "There is no such record in this project.",
    "409": "The record is not in the state that this needs.",
    "412": "The record is not the one that If-Match names.",
    "413": "The body is too large.",
    "415": "The body says that it is no JSON.",
    "422": "What was given cannot be used; `errors` says where.",
    "428": "If-Match is needed.",
    "429": "A limit is reached; Retry-After says for how long.",
    "503": "The store cannot be used now.",
}


def describe(app: FastAPI) -> None:
    """Let the application answer with a description that is made once, when it is asked for."""
    known: dict[str, Any] = {}

    def document() -> dict[str, Any]:
        if not known:
            known.update(_document(app))
        return known

    app.openapi = document  # type: ignore[method-assign]


def _document(app: FastAPI) -> dict[str, Any]:
    document = get_openapi(
        title="Tickwell",
        version="1",
        openapi_version="3.1.0",
        description=_ABOUT,
        routes=app.routes,
    )
    parts = document.setdefault("components", {})
    schemas = parts.setdefault("schemas", {})
    shapes = [(model, "validation") for model in (*BODIES.values(), Problem)]
    _, found = models_json_schema(shapes, ref_template="#/components/schemas/{model}")  # type: ignore[arg-type]
    schemas.update({name: schemas.get(name, shape) for name, shape in found["$defs"].items()})
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    parts["securitySchemes"] = {
        "key": {"type": "http", "scheme": "bearer"},
        "key_header": {"type": "apiKey", "in": "header", "name": "x-api-key"},
    }
    for methods in document["paths"].values():
        for method, operation in methods.items():
            _complete(operation, method)
    return document


def _complete(operation: dict[str, Any], method: str) -> None:
    answers = operation["responses"]
    answers.pop("422", None)
    for status, text in _REFUSALS.items():
        if _may(status, operation, method):
            schema = {"$ref": "#/components/schemas/Problem"}
            content = {"application/problem+json": {"schema": schema}}
            answers[status] = {"description": text, "content": content}
    if operation["x-permission"] != PUBLIC:
        operation["security"] = [{"key": []}, {"key_header": []}]
        if method == "post" and not operation.pop(ONE_TIME, False):
            operation.setdefault("parameters", []).append(_IDEMPOTENCY)


def _may(status: str, operation: dict[str, Any], method: str) -> bool:
    """Whether an operation can answer like this."""
    if operation["x-permission"] == PUBLIC:
        bodies = {"400", "401", "413", "415", "422", "429"} if method == "post" else set()
        return status in {"503", *bodies}
    if status in {"413", "415"}:
        return method in {"post", "put", "patch"}
    if status in {"412", "428"}:
        return any(each["name"] == "If-Match" for each in operation.get("parameters", ()))
    return status != "409" or method != "get"
