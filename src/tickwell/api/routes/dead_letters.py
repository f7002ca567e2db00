"""Dead letters: executions in state `dead`."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from tickwell.api.describe import described
from tickwell.api.filters import dead_filter
from tickwell.api.models import other as models
from tickwell.domain.policy import REVIVAL_RATE
from tickwell.errors import InvalidInput
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.documents import groups_document, instant_text
from tickwell.services.operations.revival import Revival
from tickwell.services.payload import KEEP
from tickwell.web import bodies
from tickwell.web.context import context_of
from tickwell.web.json_response import answer, place
from tickwell.web.route_permission import allow

router = APIRouter(tags=["dead letters"])


@router.get("/dead-letters/groups", **described("dead_letter_groups", models.DeadGroups))
async def groups(
    request: Request,
    query: Annotated[models.DeadFilter, Query()],
    actor: Actor = allow(Permission.READ),
) -> Response:
    """What went wrong, the largest group first; `signature` is a filter for reviving.

    The newest 1,000 dead letters are looked at; `more` says that older ones are not counted.
    """
    operations = context_of(request).operations
    found = await operations.dead_letters.groups(actor, dead_filter(query.model_dump()))
    names = await operations.executions.names(actor, [group.newest for group in found.items])
    return answer(groups_document(found, names))


@router.post(
    "/dead-letters/revive",
    **described(
        "revive_dead_letters",
        models.Revival,
        status=202,
        body=models.ReviveMany,
        example={"filter": {"job": "daily-report"}, "rate": 10},
    ),
)
async def revive(request: Request, actor: Actor = allow(Permission.OPERATE)) -> Response:
    """Begin to revive all that match, at a limited rate; Location says how far it is.

    With a payload each is repeated as a new execution, and the dead one stays; those of a job that
    cannot take it are left out, and `refused` says why, by its name.
    """
    context = context_of(request)
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        given = bodies.object_of(body, "filter", "rate", "payload")
        where = dead_filter(given.get("filter", {}), "filter.")
        rate = given.get("rate", REVIVAL_RATE)
        if isinstance(rate, bool) or not isinstance(rate, int | float):
            raise InvalidInput("is not a number", field="rate", hint=f"Use {REVIVAL_RATE}")
        payload = given.get("payload", KEEP)
        letters = context.operations.dead_letters
        revival = await letters.revive(actor, where, rate=float(rate), payload=payload)
        headers = place(request, f"/dead-letters/revivals/{revival.id}")
        return answer(revival_document(revival), 202, headers)

    return await context.idempotency.once(request, actor, body, act)


@router.post(
    "/dead-letters/purge",
    **described(
        "purge_dead_letters",
        models.Purged,
        body=models.PurgeMany,
        body_required=True,
        example={"filter": {"signature": "HTTP 410 Gone"}},
    ),
)
async def purge(request: Request, actor: Actor = allow(Permission.EDIT)) -> Response:
    """Delete those that match for good, ten thousand at a time; `more` says to ask again."""
    context = context_of(request)
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        given = bodies.object_of(body, "filter")
        if "filter" not in given:
            raise InvalidInput("is missing", field="filter", hint="Use {} for all of them")
        where = dead_filter(given["filter"], "filter.")
        purged, more = await context.operations.dead_letters.purge(actor, where)
        return answer({"purged": purged, "more": more})

    return await context.idempotency.once(request, actor, body, act)


@router.get("/dead-letters/revivals/{id}", **described("get_revival", models.Revival))
async def show(request: Request, id: str, actor: Actor = allow(Permission.READ)) -> Response:
    """How far a revival is."""
    revival = await context_of(request).operations.dead_letters.revival(actor, id)
    return answer(revival_document(revival))


def revival_document(revival: Revival) -> dict[str, Any]:
    """How far it is, as JSON."""
    ended = revival.ended_at
    return {
        "id": revival.id,
        "state": revival.state,
        "by": revival.by,
        "rate": revival.rate,
        "matched": revival.matched,
        "revived": revival.revived,
        "left_out": revival.left_out,
        "refused": revival.refused,
        "error": revival.error,
        "started_at": instant_text(revival.started_at),
        "updated_at": instant_text(revival.updated_at),
        "ended_at": None if ended is None else instant_text(ended),
    }
