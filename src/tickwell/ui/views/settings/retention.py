"""How long the history of new jobs is kept; shown beside the limits."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from tickwell.domain.document.job import retention_from_document
from tickwell.services.access.actor import Permission
from tickwell.ui.form_fields import parse_integer
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.visitor import Visitor, visit

Text = Annotated[str, Form(max_length=40)]

router = APIRouter(include_in_schema=False)


@router.post("/settings/retention")
async def set_retention(
    request: Request,
    *,
    age: Text,
    count: Text,
    dead: Text,
    visitor: Visitor = visit(Permission.ADMINISTER),
) -> Response:
    """For jobs that are made from now on."""
    form = {"age": age.strip(), "count": parse_integer(count, "count"), "dead": dead.strip()}
    await visitor.admin.retentions.set(visitor.actor, retention_from_document(form))
    return redirect_with_toast(request, "Retention for new jobs updated", "/settings/limits")
