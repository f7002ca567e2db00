"""Operations as HTTP routes: authenticate, read, call the handler once, answer."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from fastapi import Request, Response
from starlette.routing import Match, Route
from starlette.types import ASGIApp, Receive, Scope, Send

from tickwell.domain.document.shared_values import texts_of
from tickwell.errors import InvalidInput
from tickwell.services.access.actor import Actor
from tickwell.services.documents import entry_document
from tickwell.services.operations.declaration import Answer, Call, Group, Many, Operation, run
from tickwell.services.operations.schema import Input
from tickwell.web import bodies
from tickwell.web.authentication import PUBLIC, asker_of
from tickwell.web.context import Context, context_of
from tickwell.web.idempotency import is_sent_again, key_of
from tickwell.web.json_response import answer_items, respond, text_of
from tickwell.web.origin import origin_of
from tickwell.web.problems import PreconditionFailed, PreconditionRequired

#: One tag or several; a weak one is read and never matches.
_TAGS = re.compile(r'(?:W/)?"[^"]*"(?:\s*,\s*(?:W/)?"[^"]*")*')
_TAG = re.compile(r'(?<!W/)"([0-9]{1,9})"')


def etag(version: int) -> str:
    """The tag of a definition; the cursor moves without changing it."""
    return f'"{version}"'


async def expected_version(
    request: Request, actor: Actor, key: str, *, required: bool
) -> int | None:
    """The version of the job that `If-Match` names; None: any."""
    if_match = request.headers.get("if-match")
    if if_match is None:
        if required:
            raise PreconditionRequired(
                "this edit could undo another one: send If-Match with the ETag of the job that"
                ' you read, or "*" to overwrite any version'
            )
        return None
    if if_match.strip() in {"*", '"*"'}:
        return None
    named = [int(version) for version in _TAG.findall(if_match)]
    if not named or not _TAGS.fullmatch(if_match.strip()):
        raise PreconditionFailed(f"no version of a job has the tag {if_match[:64]}")
    if len(named) == 1:
        return named[0]
    found = await context_of(request).operations.jobs.get(actor, key)
    return found.job.version if found.job.version in named else named[0]


def require_no_replay(request: Request) -> None:
    """Refuse an `Idempotency-Key` where the answer holds a secret, which is stored nowhere."""
    if key_of(request) is not None:
        raise InvalidInput(
            "is not accepted here: the answer holds a secret and is not stored",
            field="Idempotency-Key",
            hint="Leave it out; delete what was created twice",
        )


def require_session(request: Request) -> None:
    """Refuse a key or a token: a leaked one could otherwise renew itself."""
    if "authorization" in request.headers or "x-api-key" in request.headers:
        raise InvalidInput(
            "requires a logged-in session",
            hint="Log in first; an API key needs no token: send the key itself",
        )


#: The version of the API that clients use.
ROOT = "/api/v1"

Guard = Callable[[Request], Awaitable[Actor | None]]


@dataclass(frozen=True, kw_only=True)
class HttpOperation(Operation):
    """An operation that is about HTTP itself: its handler takes the request and answers it."""

    #: Authenticates the request in a way of its own.
    guard: Guard | None = None
    #: What OpenAPI says of an answer that is not a record.
    content: dict[str, Any] | None = None
    is_described: bool = True
    #: Its query parameters, which its handler reads from the request.
    parameters: type[Input] | None = None

    @cached_property
    def query(self) -> type[Input] | None:
        """The schema of its query parameters."""
        return self.parameters


class HttpGroup(Group):
    """Declares operations whose handlers take a request and the actor."""

    kind = HttpOperation


class OperationRoute(Route):
    """One operation at one path; a plain ASGI application, three times as fast as FastAPI's."""

    def __init__(self, operation: Operation, path: str, *, flat: bool = False) -> None:
        super().__init__(path, _placeholder, methods=[operation.method], name=operation.id)
        self.operation = operation
        #: Whether bodies may be flat.
        self.flat = flat
        self.app: ASGIApp = self._answer_raw if isinstance(operation, HttpOperation) else self._run

    @property
    def permission(self) -> str:
        """What the caller needs."""
        needed = self.operation.permission
        return PUBLIC if needed is None else needed.value

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        """Whether the request is for this route, which spans are named by."""
        match, child = super().matches(scope)
        if match is not Match.NONE:
            child["route"] = self
        return match, child

    async def _run(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        response = await self._respond(request, context_of(request))
        await response(scope, receive, send)

    async def _answer_raw(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        operation = self.operation
        actor = None
        if isinstance(operation, HttpOperation) and operation.guard is not None:
            scope["state"]["needs"] = operation.permission
            actor = await operation.guard(request)
        elif operation.permission is not None:
            actor = await self._authorise(request, context_of(request))
        response = await operation.handler(request, actor)
        await response(scope, receive, send)

    async def _authorise(self, request: Request, context: Context) -> Actor:
        permission = self.operation.permission
        if permission is None:
            return asker_of(request)
        request.scope["state"] |= {"needs": permission, "audited": bool(self.operation.audit)}
        actor = await context.authenticate(request)
        actor.require(permission)
        return actor

    async def _respond(self, request: Request, context: Context) -> Response:
        operation, path = self.operation, request.scope["path_params"]
        actor = await self._authorise(request, context)
        if operation.one_time:
            require_no_replay(request)
        if operation.session_only:
            require_session(request)
        query = None
        if operation.query is not None:
            query = operation.query.read_query(request.query_params.multi_items())
        call = Call(
            services=context, actor=actor, flat=self.flat, origin=lambda: origin_of(request)
        )
        if operation.if_match is not None:
            required = operation.if_match and not self.flat
            call.version = await expected_version(request, actor, path["key"], required=required)
        if not operation.takes_body:
            return self._response(request, await run(operation, call, path, query))
        body = await bodies.read_bytes(request, bodies.MANY if operation.is_large else bodies.ONE)

        async def act() -> Response:
            call.idempotency_key, call.sent_again = key_of(request), is_sent_again(request)
            if body or operation.argument:
                call.document = bodies.parsed(body)
            if body and call.document is None:
                # For a handler null is a call without a body, which revives or resets everything.
                raise InvalidInput("the body must be an object")
            return self._response(request, await run(operation, call, path, query))

        if operation.takes_key and not operation.reads:
            return await context.idempotency.once(request, actor, body, act)
        return await act()

    def _response(self, request: Request, answer: Answer) -> Response:
        status = self.operation.status if answer.status is None else answer.status
        document = answer.document
        if isinstance(document, Many):
            return _many(document, status)
        headers: dict[str, str] = {}
        if answer.version is not None:
            headers["etag"] = etag(answer.version)
        if answer.location is not None:
            root = request.scope.get("root_path", "")
            headers["location"] = f"{root}{ROOT}{answer.location}"
        return respond(document, status, headers)


def _many(document: Many, status: int) -> Response:
    if document.write is entry_document:
        texts = texts_of(document.items, entry_document, text_of)
    else:
        texts = [text_of(document.write(each)) for each in document.items]
    return answer_items(texts, document.more, status)


async def _placeholder(request: Request) -> Response:
    raise AssertionError(f"{request.url.path} is answered by its route")
