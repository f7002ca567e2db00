"""How long the history of a project's new jobs is kept."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from tickwell.api.describe import described
from tickwell.api.models import administration as models
from tickwell.api.models.job import Retention
from tickwell.domain.document.job import retention_from_document, retention_to_document
from tickwell.errors import InvalidInput
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.web import bodies
from tickwell.web.context import administration_of
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow

router = APIRouter(tags=["projects"])


@router.get("/retention", **described("get_retention", models.Retained))
async def get_retention(request: Request, actor: Actor = allow(Permission.READ)) -> Response:
    """What a job gets that does not say how long its history is kept."""
    found = await administration_of(request).retentions.get(actor)
    return answer(retention_to_document(found, whole=True))


@router.put(
    "/retention",
    **described(
        "set_retention",
        models.Retained,
        body=Retention,
        body_required=True,
        example={"age": "7d", "count": 100, "dead": "30d"},
    ),
)
async def set_retention(request: Request, actor: Actor = allow(Permission.ADMINISTER)) -> Response:
    """Give it to jobs that are made from now on; those there are keep what they have."""
    given = await bodies.read_object(request, "age", "count", "dead")
    try:
        wanted = retention_from_document(given)
    except InvalidInput as error:  # as of a job, of which it is a part
        field = error.field.removeprefix("retention").removeprefix(".")
        raise InvalidInput(error.reason, field=field, hint=error.hint) from None
    kept = await administration_of(request).retentions.set(actor, wanted)
    return answer(retention_to_document(kept, whole=True))
