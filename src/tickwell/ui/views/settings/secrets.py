"""Secrets of the project: names and versions, never values."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.domain.sender import CALLBACK, CHANNEL, sender_name
from tickwell.services.access.actor import Permission
from tickwell.services.secrets.secrets import LONGEST, SHORTEST
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

PATH = "/settings/secrets"
Name = Annotated[str, Form(max_length=255)]
#: Separated by commas or blanks.
Hosts = Annotated[str, Form(max_length=10_000)]

router = APIRouter(include_in_schema=False)


@router.get(PATH)
async def secrets(
    request: Request, visitor: Visitor = visit(Permission.ADMINISTER)
) -> HTMLResponse:
    """What there is, by name."""
    admin, actor = visitor.admin, visitor.actor
    return page(
        request,
        visitor,
        "settings/secrets.html",
        secrets=await admin.secrets.list(actor),
        senders=await _senders(visitor),
        shortest=SHORTEST,
        longest=LONGEST,
    )


@router.post(PATH)
async def put(
    request: Request,
    name: Name,
    value: Annotated[str, Form(max_length=LONGEST)],
    hosts: Hosts = "",
    visitor: Visitor = visit(Permission.ADMINISTER),
) -> Response:
    """Add a secret, or give it another value; without hosts, those that it has stay."""
    secrets = visitor.admin.secrets
    info = await secrets.set(visitor.actor, name, value, _several(hosts) or None)
    return redirect_with_toast(request, f"Set {info.name}, version {info.version}", PATH)


@router.post(f"{PATH}/hosts")
async def limit(
    request: Request,
    name: Name,
    hosts: Hosts = "",
    visitor: Visitor = visit(Permission.ADMINISTER),
) -> Response:
    """Set the only hosts that a secret may be sent to; without any, it may go anywhere."""
    secrets = visitor.admin.secrets
    info = await secrets.set(visitor.actor, name, None, _several(hosts))
    return redirect_with_toast(
        request, f"{info.name} may be sent to {', '.join(info.hosts) or 'any host'}", PATH
    )


@router.post(f"{PATH}/delete")
async def delete(
    request: Request, name: Name, visitor: Visitor = visit(Permission.ADMINISTER)
) -> Response:
    """Take a secret away; attempts that name it fail from now on."""
    await visitor.admin.secrets.delete(visitor.actor, name)
    return redirect_with_toast(request, f"Deleted {name}", PATH)


async def _senders(visitor: Visitor) -> dict[str, str]:
    """What the secrets of senders belong to, by name."""
    callbacks = await visitor.admin.callbacks.list(visitor.actor)
    channels = await visitor.operations.alerts.channels(visitor.actor)
    names = {sender_name(CHANNEL, each.id): CHANNEL for each in channels}
    return names | {each.sender: CALLBACK for each in callbacks}


def _several(text: str) -> list[str]:
    return text.replace(",", " ").split()
