"""API keys of the project."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from tickwell.api import values
from tickwell.api.describe import described
from tickwell.api.models import administration as models
from tickwell.api.once import require_no_key
from tickwell.domain.trigger.duration import read_duration
from tickwell.services.access.actor import Actor
from tickwell.services.access.keys import OVERLAP
from tickwell.services.access.permission import Permission, Role
from tickwell.services.admin.admin_documents import key_document
from tickwell.web import bodies
from tickwell.web.context import administration_of
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow

router = APIRouter(tags=["keys"])


@router.get("/keys", **described("list_keys", models.Keys))
async def list_keys(request: Request, actor: Actor = allow(Permission.ADMINISTER)) -> Response:
    """The keys of the project, without their secrets."""
    found = await administration_of(request).keys.list(actor)
    return answer({"items": [key_document(key, used) for key, used in found]})


@router.post(
    "/keys",
    **described(
        "create_key",
        models.NewKey,
        status=201,
        body=models.KeyToMake,
        body_required=True,
        example={"name": "ci", "role": "operator"},
        one_time=True,
    ),
)
async def create(request: Request, actor: Actor = allow(Permission.ADMINISTER)) -> Response:
    """Make a key; its secret is in the answer, and nowhere else."""
    require_no_key(request)
    known = ("name", "role", "permissions", "expires_at")
    given = await bodies.read_object(request, *known)
    made = await administration_of(request).keys.create(
        actor,
        values.text(given.get("name"), "name"),
        values.choice(given.get("role"), "role", Role),
        permissions=_permissions(given.get("permissions")),
        expires_at=values.instant(given.get("expires_at"), "expires_at"),
    )
    return answer(key_document(made.key, None) | {"key": made.token}, 201)


@router.post(
    "/keys/{id}/rotate",
    **described(
        "rotate_key",
        models.NewKey,
        status=201,
        body=models.Rotation,
        example={"overlap": "1h"},
        one_time=True,
    ),
)
async def rotate(
    request: Request, id: str, actor: Actor = allow(Permission.ADMINISTER)
) -> Response:
    """Make a key that takes over from this one, which works on for the overlap."""
    require_no_key(request)
    overlap = (await bodies.read_object(request, "overlap")).get("overlap")
    life = OVERLAP if overlap is None else read_duration(overlap, field="overlap")
    made = await administration_of(request).keys.rotate(actor, id, life)
    return answer(key_document(made.key, None) | {"key": made.token}, 201)


@router.delete("/keys/{id}", **described("revoke_key", models.Done))
async def revoke(
    request: Request, id: str, actor: Actor = allow(Permission.ADMINISTER)
) -> Response:
    """Take a key away; it is refused within seconds, everywhere."""
    await administration_of(request).keys.revoke(actor, id)
    return answer({"done": True})


def _permissions(given: Any) -> frozenset[Permission] | None:
    if given is None:
        return None
    return frozenset(values.choices(given, "permissions", Permission))
