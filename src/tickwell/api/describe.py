"""How a route is described in OpenAPI: its operation id, its body, its answer, its headers."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

#: The shapes of bodies, by name: OpenAPI is told of them once.
BODIES: dict[str, type[BaseModel]] = {}

#: In `openapi_extra`: the answer holds a secret, which is shown once and kept nowhere.
ONE_TIME = "x-one-time"

_IF_MATCH = {
    "name": "If-Match",
    "in": "header",
    "description": "The ETag of the job that was read, or * to overwrite whatever is there.",
    "schema": {"type": "string"},
    "example": '"1"',
}


def described(
    operation_id: str,
    answers: type[BaseModel],
    *,
    status: int = 200,
    body: type[BaseModel] | None = None,
    example: Any = None,
    body_required: bool = False,
    body_type: str = "application/json",
    if_match: bool | None = None,
    one_time: bool = False,
) -> dict[str, Any]:
    """The arguments of a router's decorator. `if_match`: None none, False optional, True needed.

    `one_time`: the answer holds a secret, so that it cannot be given again for the same key.
    """
    extra: dict[str, Any] = {ONE_TIME: True} if one_time else {}
    if body is not None:
        BODIES[body.__name__] = body
        content: dict[str, Any] = {"schema": {"$ref": f"#/components/schemas/{body.__name__}"}}
        if example is not None:
            content["example"] = example
        extra["requestBody"] = {"required": body_required, "content": {body_type: content}}
    if if_match is not None:
        extra["parameters"] = [_IF_MATCH | {"required": if_match}]
    return {
        "operation_id": operation_id,
        "summary": operation_id.replace("_", " ").capitalize(),
        "status_code": status,
        "responses": {status: {"model": answers}},
        "openapi_extra": extra,
    }
