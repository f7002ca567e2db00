"""Users of the platform."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from tickwell.api import values
from tickwell.api.describe import described
from tickwell.api.models import administration as models
from tickwell.api.once import require_no_key
from tickwell.errors import InvalidInput
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.access.user import public
from tickwell.web import bodies
from tickwell.web.context import administration_of
from tickwell.web.json_response import answer
from tickwell.web.origin import login_address
from tickwell.web.route_permission import allow

router = APIRouter(tags=["users"])


@router.get("/users", **described("list_users", models.Users))
async def list_users(request: Request, actor: Actor = allow(Permission.PLATFORM)) -> Response:
    """All users, by name."""
    found = await administration_of(request).users.list(actor)
    return answer({"items": [public(user) for user in found]})


@router.post(
    "/users",
    **described(
        "create_user",
        models.User,
        status=201,
        body=models.UserToMake,
        body_required=True,
        example={"name": "ada@example.com"},
        one_time=True,
    ),
)
async def create(request: Request, actor: Actor = allow(Permission.PLATFORM)) -> Response:
    """Add a user; without a password they log in by a link, or through another issuer."""
    require_no_key(request)
    given = await bodies.read_object(request, "name", "password", "platform")
    password = given.get("password")
    user = await administration_of(request).users.create(
        actor,
        values.text(given.get("name"), "name"),
        password=None if password is None else values.text(password, "password", 1024),
        platform=values.flag(given.get("platform"), "platform"),
    )
    return answer(public(user), 201)


@router.patch(
    "/users/{name}",
    **described("change_user", models.User, body=models.UserChange, example={"disabled": True}),
)
async def change(
    request: Request, name: str, actor: Actor = allow(Permission.PLATFORM)
) -> Response:
    """Make somebody a platform admin or not, able to log in or not; their sessions end."""
    given = await bodies.read_object(request, "platform", "disabled")
    changes = {key: values.flag(value, key) for key, value in given.items() if value is not None}
    if not changes:
        raise InvalidInput("nothing is to be changed", hint="Give platform or disabled")
    return answer(public(await administration_of(request).users.change(actor, name, **changes)))


@router.delete("/users/{name}", **described("remove_user", models.Done))
async def remove(
    request: Request, name: str, actor: Actor = allow(Permission.PLATFORM)
) -> Response:
    """Forget a user, in every project."""
    await administration_of(request).users.remove(actor, name)
    return answer({"done": True})


@router.post(
    "/users/{name}/link",
    **described("make_login_link", models.Link, status=201, one_time=True),
)
async def link(request: Request, name: str, actor: Actor = allow(Permission.PLATFORM)) -> Response:
    """The link that logs this user in, once, within 15 minutes."""
    require_no_key(request)
    await bodies.read_object(request)
    token = await administration_of(request).users.link(actor, name)
    return answer({"link": login_address(request, token)}, 201)
