"""What a person does in a session: by a token, one that got out would live on in others."""

from __future__ import annotations

from fastapi import Request

from tickwell.errors import InvalidInput


def require_session(request: Request) -> None:
    """Refuse what comes with a key or a token."""
    if "authorization" in request.headers or "x-api-key" in request.headers:
        raise InvalidInput(
            "this is done in a session, and not with a key or a token",
            hint="A user logs in first; an API key needs no token: send the key itself",
        )
