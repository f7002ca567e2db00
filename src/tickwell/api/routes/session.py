"""Logging in and out, and who one is."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from tickwell.api import values
from tickwell.api.describe import described
from tickwell.api.in_person import require_session
from tickwell.api.models import administration as models
from tickwell.errors import InvalidInput, NotFound
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.access.sessions import csrf_token
from tickwell.web import bodies
from tickwell.web.authentication import asker_of
from tickwell.web.context import administration_of
from tickwell.web.cookies import drop_session, session_of, set_session
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow, public
from tickwell.web.same_origin import require_own_site

router = APIRouter(tags=["session"])


@router.post(
    "/session",
    dependencies=[public()],
    **described(
        "log_in",
        models.Session,
        status=201,
        body=models.Login,
        example={"name": "ada", "password": "correct horse battery"},
        body_required=True,
        one_time=True,
    ),
)
async def log_in(request: Request) -> Response:
    """Log in by name and password, or by a link or its token; the cookie is the session."""
    require_own_site(request)
    given = await bodies.read_object(request, "name", "password", "link")
    logins = administration_of(request).logins
    asker, old = asker_of(request), session_of(request)
    link = values.text(given.get("link"), "link").rpartition("link=")[2]
    if link:
        id = await logins.by_link(link, asker=asker, old=old)
    else:
        name = values.text(given.get("name"), "name")
        password = values.text(given.get("password"), "password", 1024)
        if not name or not password:
            raise InvalidInput("a name and a password, or a link, are needed")
        id = await logins.by_password(name, password, asker=asker, old=old)
    response = answer({"csrf": csrf_token(id)}, 201)
    set_session(request, response, id)
    return response


@router.delete("/session", dependencies=[public()], **described("log_out", models.Done))
async def log_out(request: Request) -> Response:
    """End the session that the cookie names."""
    require_own_site(request)
    id = session_of(request)
    logins = administration_of(request).logins
    done = await logins.log_out(id, asker=asker_of(request)) if id else False
    response = answer({"done": done})
    drop_session(request, response)
    return response


@router.get("/session", **described("get_session", models.Me))
async def who(actor: Actor = allow(Permission.READ)) -> Response:
    """Who asks, and what they may do."""
    return answer(
        {
            "name": actor.name,
            "project": actor.project,
            "permissions": sorted(actor.permissions),
        }
    )


@router.put(
    "/session/password",
    **described(
        "set_password",
        models.Done,
        body=models.PasswordToSet,
        example={"new": "correct horse battery"},
        body_required=True,
    ),
)
async def set_password(request: Request, actor: Actor = allow(Permission.READ)) -> Response:
    """Set one's own password, in a session; all one's sessions end."""
    require_session(request)
    given = await bodies.read_object(request, "current", "new")
    kind, _, name = actor.name.partition(":")
    if kind != "user":
        raise NotFound("user", actor.name)
    await administration_of(request).users.set_password(
        actor,
        name,
        values.text(given.get("current"), "current", 1024),
        values.text(given.get("new"), "new", 1024),
    )
    return answer({"done": True})
