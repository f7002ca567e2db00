"""Who asks: an API key, a token, or a session; and how often they may."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fastapi import Depends, Request
from fastapi.routing import APIRoute

from tickwell.errors import InvalidInput, NotFound, StoreError, TickwellError, Unauthenticated
from tickwell.services.access.actor import Actor, Permission, permissions_of, stranger
from tickwell.services.access.jwt import looks_like_token
from tickwell.services.access.key import PREFIX
from tickwell.services.access.members import without
from tickwell.services.access.sessions import csrf_token
from tickwell.services.access.user import User
from tickwell.services.admin.admin import AdminServices
from tickwell.services.limits.request_limits import Allowance, RequestLimits
from tickwell.services.projects.platform import DEFAULT, PLATFORM
from tickwell.web.context import RateLimit
from tickwell.web.cookies import own_name, session_of
from tickwell.web.problems import DuplicateHeader
from tickwell.web.same_origin import READS, require_own_page

#: What a route declares that needs no actor.
PUBLIC = "public"


def is_of_platform(request: Request) -> bool:
    """Whether a request is in no project, so that a project it names need not exist."""
    return request.scope.get("state", {}).get("needs") is Permission.PLATFORM


def may_change(request: Request) -> bool:
    """Whether a request can add to the audit log: an operation says so, a page by its method."""
    audited = request.scope.get("state", {}).get("audited")
    return request.method not in READS if audited is None else bool(audited)


def public() -> Any:
    """For a page that anybody may open: `dependencies=[public()]`."""

    async def anybody() -> None:
        """Nothing to check."""

    anybody.permission = PUBLIC  # type: ignore[attr-defined]
    return Depends(anybody)


def permission_of(route: APIRoute) -> str:
    """What a route declares; a route that declares nothing, or two things, is a mistake."""
    found = [
        declared
        for dependency in route.dependant.dependencies
        if (declared := getattr(dependency.call, "permission", None)) is not None
    ]
    if len(found) != 1:
        raise TypeError(f"{route.path} declares {found or 'no permission'}; one is needed")
    return str(found[0])


#: Where nothing was shown.
NOBODY = "no API key was sent; send one as Authorization: Bearer tw_…"
#: The same, whatever was wrong with what was shown.
REFUSED = "this API key or token is not valid; send another one as Authorization: Bearer tw_…"
_HEADER = "x-tickwell-project"
_PROJECT = "project"


@dataclass(frozen=True, slots=True)
class Authentication:
    """`context.Authenticate` and `context.Visit`. Requests with a key never look at cookies."""

    admin: AdminServices
    limits: RequestLimits

    async def authenticate(self, request: Request) -> Actor:
        """The actor of a request to the API."""
        await self.limits.exchange()
        names = ("Authorization", "X-API-Key")
        if sum(len(request.headers.getlist(name)) for name in names) > 1:
            self._count_stranger(request)
            raise DuplicateHeader(
                f"the request has more than one {' or '.join(names)} header; send one"
            )
        shown = _credentials(request)
        if shown is None:
            return await self._by_session(request)
        try:
            if shown.startswith(PREFIX):
                return await self._by_key(request, shown)
            if looks_like_token(shown):
                user = await self.admin.tokens.find(shown)
                return await self._user(request, user)
        except Unauthenticated:
            self._count_stranger(request)
            raise
        self._count_stranger(request)
        raise Unauthenticated(REFUSED)

    async def visit(self, request: Request) -> tuple[Actor, str]:
        """The actor of a page, and the token that its forms carry."""
        return await self._visit(request, on_page=True)

    async def _visit(self, request: Request, *, on_page: bool) -> tuple[Actor, str]:
        await self.limits.exchange()
        id = session_of(request)
        user = await self.admin.sessions.find(id) if id else None
        if id is None or user is None:
            raise Unauthenticated("log in first")
        token = csrf_token(id)
        await require_own_page(request, token)
        chosen = request.cookies.get(project_cookie(request), "")
        return await self._user(request, user, chosen, on_page=on_page), token

    async def _by_key(self, request: Request, shown: str) -> Actor:
        key = await self.admin.key_check.find(shown)
        # One that was made while its project was deleted is a key all the same.
        if key is None or await self.admin.projects.is_deleted(key.project):
            raise Unauthenticated(REFUSED)
        if not _was_let_in(request):
            _count(request, self.limits.known(f"key:{key.id}"))
            await self._count_project(request, key.project)
        named = request.headers.get(_HEADER)
        if named is not None and named != key.project:
            raise NotFound("project", named)
        return replace(
            _actor(request, f"key:{key.id}", key.project, key.permissions),
            key_ends=key.expires_at,
        )

    async def _by_session(self, request: Request) -> Actor:
        if session_of(request) is None:
            self._count_stranger(request)
            raise Unauthenticated(NOBODY)
        try:
            return (await self._visit(request, on_page=False))[0]
        except Unauthenticated:
            self._count_stranger(request)
            raise

    async def _user(
        self, request: Request, user: User, chosen: str = "", *, on_page: bool = False
    ) -> Actor:
        """`chosen`: the project that a browser had last; who shows a token has no cookies."""
        name, counted = f"user:{user.name}", _was_let_in(request)
        if not counted:
            _count(request, self.limits.known(name))
        user, project = await self._place(request, user, chosen, on_page=on_page)
        if project != PLATFORM and not counted:
            await self._count_project(request, project)
        held = permissions_of(user.roles[project]) if project in user.roles else frozenset()
        if user.platform:
            held |= {Permission.PLATFORM}
        return _actor(request, name, project, held)

    async def _place(
        self, request: Request, user: User, chosen: str, *, on_page: bool
    ) -> tuple[User, str]:
        """The project of the request; one that is deleted is nobody's, whatever a user has."""
        while True:
            otherwise = min(user.roles, default="") if on_page else ""
            project = _project(request, user, [chosen, user.home, DEFAULT, otherwise])
            if project == PLATFORM or not await self.admin.projects.is_deleted(project):
                return user, project
            user = without(user, project, gone=True)

    def _count_stranger(self, request: Request) -> None:
        _count(request, self.limits.stranger(_address(request)))

    async def _count_project(self, request: Request, project: str) -> None:
        changes = may_change(request)
        for each in await self.admin.limits.count_request(project, changes=changes):
            _count(request, each)


def project_cookie(request: Request) -> str:
    """Names the cookie with the project that a browser chose last."""
    return own_name(request, _PROJECT)


def _credentials(request: Request) -> str | None:
    """What the client shows; None when it shows nothing."""
    bearer, key = request.headers.get("authorization"), request.headers.get("x-api-key")
    if bearer is None:
        return key
    scheme, _, shown = bearer.partition(" ")
    if scheme.lower() != "bearer":
        return ""  # nobody's
    return shown.strip()


def _project(request: Request, user: User, others: Sequence[str]) -> str:
    """The project that the request names, if it is one of the user's, else the first other one."""
    named = request.headers.get(_HEADER)
    if named is not None and named in user.roles:
        return named
    if named is not None and not is_of_platform(request):
        raise NotFound("project", named)
    if len(user.roles) == 1 and not user.home:  # known from elsewhere: the issuer of their token
        return next(iter(user.roles))
    for each in others:
        if each in user.roles:
            return each
    if user.platform or not user.roles:
        return PLATFORM
    raise InvalidInput(
        "no project is named, and you have left the project that you joined first",
        field="X-Tickwell-Project",
        hint=f"Name one of {', '.join(sorted(user.roles))}",
    )


def asker_of(request: Request) -> Actor:
    """The user who logs in or out."""
    return stranger(_address(request), request.state.request_id)


def _was_let_in(request: Request) -> bool:
    """Whether it was counted: who listens to a stream is asked again and again who they are."""
    return "let_in" in request.scope.get("state", {})


def _actor(request: Request, name: str, project: str, permissions: frozenset[Permission]) -> Actor:
    request.state.let_in = True
    return Actor(
        name=name,
        project=project,
        permissions=permissions,
        address=_address(request),
        request_id=request.state.request_id,
    )


def _address(request: Request) -> str:
    return request.client.host if request.client else ""


def _count(request: Request, allowance: Allowance | None) -> None:
    """Refuse what is too much; the limit that is nearest stands in the headers of the answer."""
    if allowance is None:
        return
    shown = getattr(request.state, "rate_limit", None)
    if shown is None or allowance.remaining < shown.remaining or not allowance.allowed:
        request.state.rate_limit = RateLimit(
            name=allowance.name,
            limit=allowance.rate.limit,
            window=allowance.rate.window // 1000,
            remaining=allowance.remaining,
            reset=allowance.reset,
        )
    allowance.require()


#: Who asks now, or why nobody is believed to.
Ask = Callable[[], Awaitable[Actor]]


async def may_listen(ask: Ask, actor: Actor) -> bool:
    """Whether a stream opened by this actor may still read the project."""
    try:
        asked = await ask()
    except StoreError:
        return True  # nobody was asked; the store has nothing to tell either
    except TickwellError:
        return False
    return asked.project == actor.project and Permission.READ in asked.permissions
