"""Secrets of the project: names and versions, never values."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.executors.http.forms import SHORTEST
from tickwell.services.access.permission import Permission
from tickwell.services.secrets.secrets import LONGEST
from tickwell.ui.answers import done
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

PATH = "/settings/secrets"
Name = Annotated[str, Form(max_length=255)]

router = APIRouter(include_in_schema=False)


@router.get(PATH)
async def secrets(
    request: Request, visitor: Visitor = visit(Permission.ADMINISTER)
) -> HTMLResponse:
    """What there is, by name."""
    administration, actor = visitor.administration, visitor.actor
    return page(
        request,
        visitor,
        "settings/secrets.html",
        secrets=await administration.secrets.list(actor),
        callbacks={each.sender for each in await administration.callbacks.list(actor)},
        shortest=SHORTEST,
        longest=LONGEST,
    )


@router.post(PATH)
async def put(
    request: Request,
    name: Name,
    value: Annotated[str, Form(max_length=LONGEST)],
    visitor: Visitor = visit(Permission.ADMINISTER),
) -> Response:
    """Add a secret, or give it another value."""
    info = await visitor.administration.secrets.set(visitor.actor, name, value)
    return done(request, f"{info.name} is set, version {info.version}", PATH)


@router.post(f"{PATH}/delete")
async def delete(
    request: Request, name: Name, visitor: Visitor = visit(Permission.ADMINISTER)
) -> Response:
    """Take a secret away; attempts that name it fail from now on."""
    await visitor.administration.secrets.delete(visitor.actor, name)
    return done(request, f"{name} is deleted", PATH)
