"""The audit logs, and the keys behind them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from tickwell.api.describe import described
from tickwell.api.models import administration as models
from tickwell.ports.records import Page
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.admin.admin_documents import entry_document
from tickwell.services.audit.entry import Entry
from tickwell.services.projects.platform import PLATFORM
from tickwell.web import bodies
from tickwell.web.context import administration_of, context_of
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow

router = APIRouter(tags=["audit"])


Cursor = Annotated[str | None, Query(max_length=1000)]
Limit = Annotated[int, Query(ge=1, le=1000)]


@router.get("/audit", **described("list_audit", models.Entries))
async def list_audit(
    request: Request,
    cursor: Cursor = None,
    limit: Limit = 100,
    actor: Actor = allow(Permission.ADMINISTER),
) -> Response:
    """Entries of the project, newest first."""
    scope = (actor.project, "audit")
    after = context_of(request).cursors.open(cursor, *scope)
    page = await administration_of(request).audit.list(actor, after, limit)
    return _page(request, page, scope)


@router.get("/audit/verify", **described("verify_audit", models.Verified))
async def verify(request: Request, actor: Actor = allow(Permission.ADMINISTER)) -> Response:
    """Look at every entry for signs that one was changed, taken out or put in."""
    return answer(asdict(await administration_of(request).audit.verify(actor)))


@router.get("/platform/audit", **described("list_platform_audit", models.Entries))
async def list_platform(
    request: Request,
    cursor: Cursor = None,
    limit: Limit = 100,
    actor: Actor = allow(Permission.PLATFORM),
) -> Response:
    """Entries about users, projects, queues and sessions, newest first."""
    audit, scope = administration_of(request).audit, (PLATFORM, "audit")
    after = context_of(request).cursors.open(cursor, *scope)
    return _page(request, await audit.list_platform(actor, after, limit), scope)


@router.get("/platform/audit/verify", **described("verify_platform_audit", models.Verified))
async def verify_platform(request: Request, actor: Actor = allow(Permission.PLATFORM)) -> Response:
    """The same for the platform's own log."""
    return answer(asdict(await administration_of(request).audit.verify_platform(actor)))


@router.post("/platform/rewrap", **described("rewrap_secrets", models.Rewrapped))
async def rewrap(request: Request, actor: Actor = allow(Permission.PLATFORM)) -> Response:
    """Put every secret and signing key under the current server key."""
    context = context_of(request)
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        bodies.object_of(body)
        return answer({"rewrapped": await administration_of(request).rewrapping.run(actor)})

    return await context.idempotency.once(request, actor, body, act)


def _page(request: Request, page: Page[Entry], scope: tuple[str, str]) -> Response:
    items = [entry_document(entry) for entry in page.items]
    following = context_of(request).cursors.seal(page.cursor, *scope)
    return answer({"items": items, "next_cursor": following})
