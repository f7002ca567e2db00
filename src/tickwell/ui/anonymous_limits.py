"""Limits the size of forms without a session: a form is parsed before its session is checked."""

from __future__ import annotations

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tickwell.errors import TickwellError
from tickwell.web.context import context_of
from tickwell.web.cookies import session_of
from tickwell.web.problems import TooLarge
from tickwell.web.same_origin import READS

#: Bytes, enough for a login form. Parsing a megabyte of escapes takes a third of a second.
MOST = 16 * 1024


class AnonymousLimits:
    """ASGI middleware that limits request bodies without a valid session."""

    def __init__(self, application: ASGIApp) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Forward a request."""
        changes = scope["type"] == "http" and scope["method"] not in READS
        if changes and not await _has_session(Request(scope)):
            receive = _bounded(receive)
        await self.application(scope, receive, send)


async def _has_session(request: Request) -> bool:
    context, id = context_of(request), session_of(request)
    if not context.settings.auth:
        return True
    if id is None or context.admin is None:
        return False
    try:
        return await context.admin.sessions.find(id) is not None
    except TickwellError:  # the page says what is wrong
        return False


def _bounded(receive: Receive) -> Receive:
    left = MOST

    async def bounded() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise TooLarge(f"forms are limited to {MOST} bytes before login")
        return message

    return bounded
