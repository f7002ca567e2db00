"""Cookies: what those of this service are called, and the one that holds a session's id."""

from __future__ import annotations

import re
from urllib.parse import quote

from fastapi import Request, Response

from tickwell.web.origin import root_of

#: Over TLS the browser lets nobody but this very host set it; on a plain loopback it cannot.
_SECURE, _PLAIN = "__Host-tickwell", "tickwell"
_PORT = re.compile(r":(\d{1,5})$")


def own_name(request: Request, name: str) -> str:
    """The name with our port and path: a browser has one set of cookies for all of a host."""
    port = _PORT.search(request.url.netloc)
    suffix = (port[1] if port else "") + root_of(request)
    return f"{name}-{quote(suffix, safe='')}" if suffix else name


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


def _name(request: Request) -> str:
    return own_name(request, _SECURE if request.url.scheme == "https" else _PLAIN)
