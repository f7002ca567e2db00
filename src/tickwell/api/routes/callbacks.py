"""Callbacks of the project."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from tickwell.api import values
from tickwell.api.describe import described
from tickwell.api.models import callbacks as models
from tickwell.api.models.administration import Done
from tickwell.api.once import require_no_key
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.admin.admin_documents import callback_document
from tickwell.services.callbacks.callback import Told
from tickwell.web import bodies
from tickwell.web.context import administration_of
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow

router = APIRouter(tags=["callbacks"])


@router.get("/callbacks", **described("list_callbacks", models.Callbacks))
async def list_callbacks(request: Request, actor: Actor = allow(Permission.ADMINISTER)) -> Response:
    """Whom the project tells, and of what."""
    found = await administration_of(request).callbacks.list(actor)
    return answer({"items": [callback_document(callback) for callback in found]})


@router.post(
    "/callbacks",
    **described(
        "create_callback",
        models.NewCallback,
        status=201,
        body=models.CallbackToMake,
        body_required=True,
        example={"url": "https://example.com/told", "events": ["dead", "recovered"]},
        one_time=True,
    ),
)
async def create(request: Request, actor: Actor = allow(Permission.ADMINISTER)) -> Response:
    """Tell an address of these events, of one job or of all; the key that signs is shown once."""
    require_no_key(request)
    given = await bodies.read_object(request, "url", "events", "job")
    made = await administration_of(request).callbacks.create(
        actor,
        values.text(given.get("url"), "url", 2048),
        frozenset(values.choices(given.get("events"), "events", Told)),
        values.text(given.get("job"), "job") or None,
    )
    return answer(callback_document(made.callback) | {"signing_key": made.signing_key}, 201)


@router.delete("/callbacks/{id}", **described("delete_callback", Done))
async def delete(
    request: Request, id: str, actor: Actor = allow(Permission.ADMINISTER)
) -> Response:
    """Tell it nothing more."""
    await administration_of(request).callbacks.delete(actor, id)
    return answer({"done": True})
