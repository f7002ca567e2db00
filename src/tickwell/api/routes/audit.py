"""The audit log of the project."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from tickwell.api.answers import answer
from tickwell.api.context import administration_of
from tickwell.api.describe import described
from tickwell.api.models import administration as models
from tickwell.api.paging import opened, sealed
from tickwell.api.security import allow
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.audit.entry import Entry
from tickwell.services.documents import instant_text

router = APIRouter(tags=["audit"])


@router.get("/audit", **described("list_audit", models.Entries))
async def list_audit(
    request: Request,
    cursor: Annotated[str | None, Query(max_length=1000)] = None,
    limit: Annotated[int, Query(ge=1, le=100)] = 100,
    actor: Actor = allow(Permission.ADMINISTER),
) -> Response:
    """Entries, newest first."""
    scope = (actor.project, "audit")
    page = await administration_of(request).audit.list(actor, opened(cursor, *scope), limit)
    items = [_document(entry) for entry in page.items]
    return answer({"items": items, "next_cursor": sealed(page.cursor, *scope)})


@router.get("/audit/verify", **described("verify_audit", models.Verified))
async def verify(request: Request, actor: Actor = allow(Permission.ADMINISTER)) -> Response:
    """Look at every entry for signs that one was changed, taken out or put in."""
    return answer(asdict(await administration_of(request).audit.verify(actor)))


def _document(entry: Entry) -> dict[str, Any]:
    return asdict(entry) | {
        "at": instant_text(entry.at),
        "before": None if entry.before is None else json.loads(entry.before),
        "after": None if entry.after is None else json.loads(entry.after),
    }
