"""The edge of the application: request ids, the read gate, body limits, common headers."""

from __future__ import annotations

import re
from itertools import count
from secrets import token_hex
from traceback import format_exception
from typing import Any

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tickwell.api.http.read_gate import ReadGate
from tickwell.log import events as lines
from tickwell.log.text import without_token
from tickwell.web.context import RateLimit
from tickwell.web.problems import TooLarge

#: Bytes of any body; routes take less.
HARD = 1024 * 1024
#: Where outside jobs check in.
PING_PATH = "/ping/"
#: Fields of a form as browsers send it: as many as are read of one.
MOST_FIELDS = 1000
_PROCESS, _NUMBERS = token_hex(6), count(1)
_GOOD_ID = re.compile(rb"[A-Za-z0-9._:-]{1,64}")

_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
#: What a JSON answer may do in a browser: nothing. Pages bring a policy of their own.
_POLICY = (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'")
_NO_STORE = (b"cache-control", b"no-store")
_NO_REFERRER = (b"referrer-policy", b"no-referrer")
#: Over TLS a browser is told to come by nothing else for a year.
_TLS_ONLY = (b"strict-transport-security", b"max-age=31536000")
#: What an answer gets unless it brings its own.
_DEFAULTS = (_POLICY, _NO_STORE, _NO_REFERRER)


class Edge:
    """Stands around an application; a plain ASGI one, because it sees every request."""

    def __init__(self, application: ASGIApp) -> None:
        self.application = application
        self.reads = ReadGate()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and see to its answer."""
        if scope["type"] != "http":
            await self.application(scope, receive, send)
        elif scope["method"] == "HEAD":
            await self._handle({**scope, "method": "GET"}, receive, _headed(send))
        else:
            await self._handle(scope, receive, send)

    async def _handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        state: dict[str, Any] = scope.setdefault("state", {})
        state["request_id"] = request_id = _request_id(scope)
        started = False
        # Its answer may go out slowly: from the first byte on it holds up no other read.
        admitted = await self.reads.enter() if scope["method"] == "GET" else None

        async def dressed(message: Message) -> None:
            nonlocal started
            if message["type"] == "http.response.start":
                started = True
                if admitted is not None:
                    admitted.end()
                message["headers"] = _dressed(message["headers"], request_id, state)
                if scope["scheme"] == "https":
                    message["headers"].append(_TLS_ONLY)
            await send(message)

        try:
            await self.application(scope, _bounded(scope, receive), dressed)
        except ClientDisconnect:
            return  # nobody is left to be answered
        except Exception as error:
            lines.REQUEST_FAILED.log(
                request_id=request_id,
                method=scope["method"],
                path=without_token(scope["path"]),
                error="".join(format_exception(error)),
            )
            if not started:
                raise
        finally:
            if admitted is not None:
                admitted.end()


def _request_id(scope: Scope) -> str:
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _GOOD_ID.fullmatch(value):
            return str(value.decode())
    # Random once per process, then counted: asking the machine each time lets go of the loop.
    return f"{_PROCESS}-{next(_NUMBERS):x}"


def _headed(send: Send) -> Send:
    """The head of the answer, and no body: that of a stream would have no end."""

    async def headed(message: Message) -> None:
        if message["type"] == "http.response.start":
            await send(message)
            await send({"type": "http.response.body", "body": b""})
        elif message.get("more_body"):
            raise ClientDisconnect  # not every server tells a stream that nobody hears it

    return headed


def _bounded(scope: Scope, receive: Receive) -> Receive:
    """The same body, refused where it passes a bound."""
    left, fields = HARD, MOST_FIELDS
    # curl calls any body a form; that of a ping is a log, and never read as one.
    may_be_form = not scope["path"].removeprefix(scope.get("root_path", "")).startswith(PING_PATH)

    async def bounded() -> Message:
        nonlocal left, fields
        message = await receive()
        body = message.get("body", b"")
        left -= len(body)
        if left < 0:
            raise TooLarge(f"a body has {HARD} bytes at most")
        # A form is read before anybody knows whose it is, and empty fields are read slowly.
        fields -= body.count(b"&")
        if fields < 0 and may_be_form and _is_form(scope):
            raise TooLarge(f"a form has {MOST_FIELDS} fields at most")
        return message

    return bounded


def _is_form(scope: Scope) -> bool:
    kinds = (value.lower() for name, value in scope["headers"] if name == b"content-type")
    return any(kind.startswith(b"application/x-www-form-urlencoded") for kind in kinds)


def _dressed(
    headers: list[tuple[bytes, bytes]], request_id: str, state: dict[str, Any]
) -> list[tuple[bytes, bytes]]:
    names = {name for name, _ in headers}
    found = [*headers, *_HEADERS, (b"x-request-id", request_id.encode())]
    found += [header for header in _DEFAULTS if header[0] not in names]
    limit = state.get("rate_limit")
    if isinstance(limit, RateLimit):
        policy = f'"{limit.name}";q={limit.limit};w={limit.window}'
        found.append((b"ratelimit-policy", policy.encode()))
        left = f'"{limit.name}";r={limit.remaining};t={limit.reset}'
        found.append((b"ratelimit", left.encode()))
    return found
