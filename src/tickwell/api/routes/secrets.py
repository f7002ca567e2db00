"""Secrets of the project: written and listed, never read back."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from tickwell.api.describe import described
from tickwell.api.models import administration as models
from tickwell.errors import InvalidInput
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.admin.admin_documents import secret_document
from tickwell.web import bodies
from tickwell.web.context import administration_of
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow

router = APIRouter(tags=["secrets"])


@router.get("/secrets", **described("list_secrets", models.Secrets))
async def list_secrets(request: Request, actor: Actor = allow(Permission.ADMINISTER)) -> Response:
    """Names and versions, by name."""
    found = await administration_of(request).secrets.list(actor)
    return answer({"items": [secret_document(info) for info in found]})


@router.put(
    "/secrets/{name}",
    **described(
        "set_secret",
        models.Secret,
        body=models.SecretToSet,
        body_required=True,
        example={"value": "a long random value", "hosts": ["api.example.com"]},
    ),
)
async def put(request: Request, name: str, actor: Actor = allow(Permission.ADMINISTER)) -> Response:
    """Add a secret, or give it another value, other hosts that it may be sent to, or both."""
    given = await bodies.read_object(request, "value", "hosts")
    value, hosts = given.get("value"), given.get("hosts")
    if not isinstance(value, str) and (value is not None or hosts is None):
        raise InvalidInput("a text is needed", field="value")
    if hosts is not None and not _are_texts(hosts):
        raise InvalidInput(
            "is not a list of texts", field="hosts", hint='For example ["api.example.com"]'
        )
    found = await administration_of(request).secrets.set(actor, name, value, hosts)
    return answer(secret_document(found))


@router.delete("/secrets/{name}", **described("delete_secret", models.Done))
async def delete(
    request: Request, name: str, actor: Actor = allow(Permission.ADMINISTER)
) -> Response:
    """Take a secret away; attempts that name it fail from now on."""
    await administration_of(request).secrets.delete(actor, name)
    return answer({"done": True})


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, str) for each in value)
