"""Log in and out; the session is a cookie."""

from __future__ import annotations

from fastapi import Request, Response

from tickwell.api.http.route import HttpGroup
from tickwell.errors import InvalidInput
from tickwell.services.access.actor import Actor
from tickwell.services.access.sessions import csrf_token
from tickwell.services.operations.records import admin as records
from tickwell.web import bodies
from tickwell.web.authentication import asker_of
from tickwell.web.context import administration_of
from tickwell.web.cookies import drop_session, session_of, set_session
from tickwell.web.json_response import respond
from tickwell.web.same_origin import require_own_site

GROUP = HttpGroup("session")


@GROUP.post(
    "/session",
    None,
    records.Session,
    status=201,
    audit="session.open",
    whole_body=records.Login,
    example={"name": "ada", "password": "correct horse battery"},
    one_time=True,
    in_clients=False,
)
async def log_in(request: Request, _actor: Actor | None) -> Response:
    """Log in by name and password, or by a link or its token; the session is a cookie."""
    require_own_site(request)
    body = await bodies.read_bytes(request)
    login = records.Login.read(bodies.parsed(body) if body else {})
    logins = administration_of(request).logins
    asker, old = asker_of(request), session_of(request)
    link = (login.link or "").rpartition("link=")[2]
    if link:
        id = await logins.by_link(link, asker=asker, old=old)
    else:
        if not login.name or not login.password:
            raise InvalidInput("requires name and password, or link")
        id = await logins.by_password(login.name, login.password, asker=asker, old=old)
    response = respond({"csrf": csrf_token(id)}, 201)
    set_session(request, response, id)
    return response


@GROUP.delete("/session", None, records.Done, audit="session.end", in_clients=False)
async def log_out(request: Request, _actor: Actor | None) -> Response:
    """End the session of the cookie."""
    require_own_site(request)
    id = session_of(request)
    logins = administration_of(request).logins
    done = await logins.log_out(id, asker=asker_of(request)) if id else False
    response = respond({"done": done})
    drop_session(request, response)
    return response
