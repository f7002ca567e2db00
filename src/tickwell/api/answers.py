"""Answers in JSON, made from documents directly."""

from __future__ import annotations

from typing import Any

import orjson
from fastapi import Request, Response


def encoded(document: Any) -> bytes:
    """A document as bytes."""
    return orjson.dumps(document)


def place(request: Request, path: str) -> dict[str, str]:
    """Where what was made is found: below wherever the application is mounted."""
    return {"location": f"{request.scope.get('root_path', '')}/api/v1{path}"}


def answer(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A document as an answer."""
    return Response(orjson.dumps(document), status, headers, "application/json")
