"""What is wrong, as JSON of RFC 9457: also for a process without the framework of the API."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any

MEDIA_TYPE = "application/problem+json"


def problem_document(status: int, kind: str, detail: str, request_id: str = "") -> dict[str, Any]:
    """What is wrong, as JSON."""
    return {
        "type": f"urn:tickwell:problem:{kind}",
        "title": HTTPStatus(status).phrase,
        "status": status,
        "detail": detail,
        "request_id": request_id,
    }


def kind_of(status: int) -> str:
    """The kind of a problem of which nothing but the status is known."""
    return HTTPStatus(status).phrase.lower().replace(" ", "-")
