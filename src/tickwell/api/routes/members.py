"""Members of the project."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from tickwell.api import values
from tickwell.api.describe import described
from tickwell.api.models import administration as models
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission, Role
from tickwell.web import bodies
from tickwell.web.context import administration_of
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow

router = APIRouter(tags=["members"])


@router.get("/members", **described("list_members", models.Members))
async def list_members(request: Request, actor: Actor = allow(Permission.ADMINISTER)) -> Response:
    """Who is what in the project."""
    found = await administration_of(request).members.list(actor)
    return answer({"items": [{"name": name, "role": role.value} for name, role in found]})


@router.put(
    "/members/{name}",
    **described(
        "set_member",
        models.Member,
        body=models.RoleToGive,
        body_required=True,
        example={"role": "operator"},
    ),
)
async def put(request: Request, name: str, actor: Actor = allow(Permission.ADMINISTER)) -> Response:
    """Make somebody a member, or give a member another role."""
    given = await bodies.read_object(request, "role")
    role = values.choice(given.get("role"), "role", Role)
    await administration_of(request).members.set(actor, name, role)
    return answer({"name": name, "role": role.value})


@router.delete("/members/{name}", **described("remove_member", models.Done))
async def delete(
    request: Request, name: str, actor: Actor = allow(Permission.ADMINISTER)
) -> Response:
    """Take a member's rights in this project away."""
    await administration_of(request).members.remove(actor, name)
    return answer({"done": True})
