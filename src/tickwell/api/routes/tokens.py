"""Tokens of our own issuer."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from tickwell.api.describe import described
from tickwell.api.in_person import require_session
from tickwell.api.models import administration as models
from tickwell.api.once import require_no_key
from tickwell.errors import InvalidInput, NotFound
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.web import bodies
from tickwell.web.context import administration_of
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow, public

router = APIRouter(tags=["tokens"])


@router.post("/tokens", **described("issue_token", models.Token, status=201, one_time=True))
async def issue(request: Request, actor: Actor = allow(Permission.READ)) -> Response:
    """A token that says who one is, for 15 minutes; for a session only."""
    require_no_key(request)
    require_session(request)
    await bodies.read_object(request)
    administration = administration_of(request)
    kind, _, name = actor.name.partition(":")
    if kind != "user":
        raise InvalidInput("a token says which user asks, and here nobody is asked who they are")
    user = await administration.directory.find(name)
    if user is None:
        raise NotFound("user", actor.name)
    token = await administration.issuer.issue(user)
    await administration.audit.record(actor, "token.issue", f"user/{user.name}")
    return answer({"token": token}, 201)


@router.get("/jwks", dependencies=[public()], **described("get_jwks", models.Jwks))
async def jwks(request: Request) -> Response:
    """The public keys that our tokens are checked with."""
    return answer(await administration_of(request).issuer.jwks())
