"""Dead letters by what they died of, and how to bring them back."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.domain.payload import KEEP
from tickwell.services.access.actor import Permission
from tickwell.services.executions.dead_letters import DeadFilter
from tickwell.ui.form_fields import parse_json
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

#: Revived a second, unless somebody says otherwise.
RATE = 10.0
#: Somebody else was faster, or a search found none.
NONE_LEFT = "No matching dead letters remain; nothing was changed"

router = APIRouter(include_in_schema=False)

Text = Annotated[str, Query(max_length=500)]
Typed = Annotated[str, Form(max_length=500)]


@router.get("/dead")
async def dead(
    request: Request,
    *,
    q: Text = "",
    job: Text = "",
    signature: Text = "",
    revival: Text = "",
    visitor: Visitor = visit(Permission.READ),
) -> HTMLResponse:
    """The groups, the largest first, and how far a revival is that was begun here."""
    operations, actor = visitor.operations, visitor.actor
    where, view = _matching(signature, q, job), {"q": q, "job": job, "signature": signature}
    found = await operations.dead_letters.groups(actor, where)
    groups = found.items
    dead = await operations.insights.dead(actor)
    names = await operations.executions.names(actor, [group.newest for group in groups])
    return page(
        request,
        visitor,
        "dead.html",
        groups=groups,
        total=sum(group.count for group in groups),
        dead=dead,
        grouped=found.looked_at if found.more else 0,
        names=names,
        rate=RATE,
        view=view,
        query=urlencode({name: value for name, value in view.items() if value}),
        revival=await operations.dead_letters.revival(actor, revival) if revival else None,
    )


@router.post("/dead/revive")
async def revive(
    request: Request,
    *,
    signature: Typed = "",
    q: Typed = "",
    job: Typed = "",
    rate: Annotated[float, Form()] = RATE,
    payload: Annotated[str, Form(max_length=65_536)] = "",
    visitor: Visitor = visit(Permission.OPERATE),
) -> Response:
    """Bring a group back, or all that match, at a limited rate, perhaps with another payload."""
    where, other = _matching(signature, q, job), KEEP
    if payload.strip():
        other = parse_json(payload, "payload")
    begun = await visitor.operations.dead_letters.revive(
        visitor.actor, where, rate=rate, payload=other
    )
    if not begun.matched:
        return redirect_with_toast(request, NONE_LEFT, "/dead")
    message = (
        f"{'Reviving' if other is KEEP else 'Repeating'} {begun.matched:,} at {rate:g} per second"
    )
    return redirect_with_toast(request, message, f"/dead?revival={begun.id}")


@router.post("/dead/purge")
async def purge(
    request: Request,
    *,
    signature: Typed = "",
    q: Typed = "",
    job: Typed = "",
    visitor: Visitor = visit(Permission.EDIT),
) -> Response:
    """Forget a group, or all that match, for good."""
    where = _matching(signature, q, job)
    purged, more = await visitor.operations.dead_letters.purge(visitor.actor, where)
    message = f"{purged:,} purged" + ("; more remain, purge again" if more else "")
    return redirect_with_toast(request, message if purged else NONE_LEFT, "/dead")


def _matching(signature: str, q: str, job: str) -> DeadFilter:
    return DeadFilter(job_id=job or None, signature=signature or None, search=q or None)
