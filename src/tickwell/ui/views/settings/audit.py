"""The audit log: who did what, and whether anybody changed the record of it."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse

from tickwell.services.access.actor import Permission
from tickwell.services.projects.platform import PLATFORM
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

PATH = "/settings/audit"
PAGE = 50
Cursor = Annotated[str | None, Query(max_length=1000)]

router = APIRouter(include_in_schema=False)


@router.get(PATH)
async def audit(
    request: Request,
    *,
    cursor: Cursor = None,
    check: bool = False,
    visitor: Visitor = visit(Permission.ADMINISTER),
) -> HTMLResponse:
    """Entries of the project, newest first; on request the whole chain is looked at."""
    log, actor = visitor.admin.audit, visitor.actor
    scope = (actor.project, "audit")
    found = await log.list(actor, visitor.context.cursors.open(cursor, *scope), PAGE)
    return page(
        request,
        visitor,
        "settings/audit.html",
        title="Audit log",
        entries=found.items,
        verified=await log.verify(actor) if check else None,
        next=visitor.context.cursors.seal(found.cursor, *scope),
    )


@router.get("/settings/platform-audit")
async def platform_audit(
    request: Request,
    *,
    cursor: Cursor = None,
    check: bool = False,
    visitor: Visitor = visit(Permission.PLATFORM),
) -> HTMLResponse:
    """The same about users, projects, queues and sessions."""
    log, actor = visitor.admin.audit, visitor.actor
    scope = (PLATFORM, "audit")
    found = await log.list_platform(actor, visitor.context.cursors.open(cursor, *scope), PAGE)
    return page(
        request,
        visitor,
        "settings/audit.html",
        title="Audit log of the platform",
        entries=found.items,
        verified=await log.verify_platform(actor) if check else None,
        next=visitor.context.cursors.seal(found.cursor, *scope),
    )
