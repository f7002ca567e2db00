"""The cookie that holds a session's id."""

from __future__ import annotations

from fastapi import Request, Response

#: Over TLS the browser lets nobody but this very host set it; on a plain loopback it cannot.
_SECURE, _PLAIN = "__Host-tickwell", "tickwell"


def _name(request: Request) -> str:
    return _SECURE if request.url.scheme == "https" else _PLAIN


def session_of(request: Request) -> str | None:
    """The id of the session that the browser shows."""
    return request.cookies.get(_name(request)) or None


def set_session(request: Request, response: Response, id: str) -> None:
    """Give the browser a session; it ends with the browser, or here."""
    response.set_cookie(
        _name(request),
        id,
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )


def drop_session(request: Request, response: Response) -> None:
    """Take it away."""
    response.delete_cookie(
        _name(request),
        path="/",
        secure=request.url.scheme == "https",
        httponly=True,
        samesite="lax",
    )
