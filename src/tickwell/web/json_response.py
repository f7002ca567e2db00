"""Answers in JSON, made from documents directly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import orjson
from fastapi import Response


def encoded(document: Any) -> bytes:
    """A document as bytes, whatever an older version or a library has let into a text."""
    try:
        return orjson.dumps(document)
    except orjson.JSONEncodeError:  # half of a character
        return json.dumps(document, ensure_ascii=False).encode(errors="replace")


def text_of(document: Any) -> str:
    """The same as text."""
    return encoded(document).decode()


def respond(document: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """A document as a response."""
    return Response(encoded(document), status, headers, "application/json")


def answer_items(items: Sequence[str], more: dict[str, Any], status: int = 200) -> Response:
    """Items that are JSON already, and other fields, as an answer."""
    text = f'{{"items":[{",".join(items)}],{text_of(more)[1:]}'
    return Response(text.encode(), status, media_type="application/json")
