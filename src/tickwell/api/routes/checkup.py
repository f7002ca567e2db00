"""The checkup."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from tickwell.api.describe import described
from tickwell.api.models import other as models
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.documents import finding_document
from tickwell.web.context import context_of
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow

router = APIRouter(tags=["health"])


@router.get("/checkup", **described("checkup", models.Findings))
async def checkup(request: Request, actor: Actor = allow(Permission.READ)) -> Response:
    """What keeps jobs of the project from running, in one sentence each, and what to do."""
    found = await context_of(request).operations.checkups.findings(actor)
    return answer({"items": [finding_document(each) for each in found]})
