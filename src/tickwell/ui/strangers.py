"""What a stranger may send to a page: a form is read before anybody is asked whose it is."""

from __future__ import annotations

from fastapi import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tickwell.errors import TickwellError
from tickwell.web.context import context_of
from tickwell.web.cookies import session_of
from tickwell.web.problems import TooLarge
from tickwell.web.same_origin import READS

#: Bytes: enough to log in with. A megabyte of escapes takes a third of a second to read.
MOST = 16 * 1024


class Strangers:
    """Stands around the dashboard, and bounds what comes without a session."""

    def __init__(self, application: ASGIApp) -> None:
        self.application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on."""
        changes = scope["type"] == "http" and scope["method"] not in READS
        if changes and not await _is_known(Request(scope)):
            receive = _bounded(receive)
        await self.application(scope, receive, send)


async def _is_known(request: Request) -> bool:
    context, id = context_of(request), session_of(request)
    if not context.settings.auth:
        return True
    if id is None or context.administration is None:
        return False
    try:
        return await context.administration.sessions.find(id) is not None
    except TickwellError:  # the page says what is wrong
        return False


def _bounded(receive: Receive) -> Receive:
    left = MOST

    async def bounded() -> Message:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        if left < 0:
            raise TooLarge(f"a form has {MOST} bytes at most before one has logged in")
        return message

    return bounded
