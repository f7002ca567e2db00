"""What a trigger would do."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response

from tickwell.api.describe import described
from tickwell.api.models import other as models
from tickwell.domain.trigger import Cron, Trigger
from tickwell.domain.trigger.document_reading import read_trigger
from tickwell.errors import InvalidInput
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.documents import instant_text
from tickwell.web import bodies
from tickwell.web.context import context_of
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow

router = APIRouter(tags=["previews"])


@router.get("/cron/preview", **described("preview_cron", models.Preview))
async def cron(
    request: Request,
    expr: Annotated[str, Query(max_length=256, examples=["0 9 * * mon-fri"])],
    tz: Annotated[str, Query(max_length=64)] = "UTC",
    dialect: Annotated[Literal["cron", "quartz", "aws", "celery"], Query()] = "cron",
    count: Annotated[int, Query(ge=1, le=100)] = 10,
    *,
    actor: Actor = allow(Permission.READ),
) -> Response:
    """A cron expression in words, its next fire times, and what may surprise."""
    return await _preview(request, actor, Cron(expr, tz=tz, dialect=dialect), count)


@router.post(
    "/triggers/preview",
    **described(
        "preview_trigger",
        models.Preview,
        body=models.PreviewBody,
        example={"trigger": {"cron": "0 9 * * mon-fri", "tz": "Europe/Rome"}, "count": 3},
        body_required=True,
    ),
)
async def trigger(request: Request, actor: Actor = allow(Permission.READ)) -> Response:
    """Any trigger in words, its next fire times, and what may surprise."""
    given = await bodies.read_object(request, "trigger", "count")
    count = given.get("count", 10)
    if type(count) is not int or not 1 <= count <= 100:
        raise InvalidInput("1 to 100", field="count")
    return await _preview(request, actor, read_trigger(given.get("trigger"), "trigger"), count)


async def _preview(request: Request, actor: Actor, given: Trigger, count: int) -> Response:
    found = await context_of(request).operations.previews.trigger(actor, given, count)
    return answer(
        {
            "words": found.words,
            "fires": [instant_text(fire) for fire in found.fires],
            "warnings": list(found.warnings),
        }
    )
