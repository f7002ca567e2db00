"""Pausing a project, and all of them."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response

from tickwell.services.access.actor import Permission
from tickwell.ui.form_fields import parse_delay
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.visitor import Visitor, visit

Why = Annotated[str, Form(max_length=500)]
HowLong = Annotated[str, Form(max_length=20)]

router = APIRouter(include_in_schema=False)


async def shown_pauses(visitor: Visitor) -> dict[str, Any]:
    """What a page shows of the pauses that the project is under."""
    found = await visitor.operations.pauses.get(visitor.actor)
    each = {"project": found.project, "platform": found.platform}
    return {
        "pauses": found,
        "paused_by": {
            name: await visitor.called(pause.by) for name, pause in each.items() if pause
        },
    }


@router.post("/project/pause")
async def pause_project(
    request: Request,
    why: Why = "",
    how_long: HowLong = "",
    visitor: Visitor = visit(Permission.OPERATE),
) -> Response:
    """Stop all jobs of the project from firing, for a while or until somebody resumes it."""
    await visitor.operations.pauses.pause(
        visitor.actor, why=why, until=parse_delay(how_long, "how_long")
    )
    return redirect_with_toast(request, f"Paused project {visitor.actor.project}", "/")


@router.post("/project/resume")
async def resume_project(
    request: Request, visitor: Visitor = visit(Permission.OPERATE)
) -> Response:
    """Let them fire again."""
    await visitor.operations.pauses.resume(visitor.actor)
    return redirect_with_toast(request, f"Resumed project {visitor.actor.project}", "/")


@router.post("/platform/pause")
async def pause_platform(
    request: Request,
    why: Why = "",
    how_long: HowLong = "",
    visitor: Visitor = visit(Permission.PLATFORM),
) -> Response:
    """Stop the jobs of all projects from firing."""
    await visitor.operations.pauses.pause_all(
        visitor.actor, why=why, until=parse_delay(how_long, "how_long")
    )
    return redirect_with_toast(request, "Paused all projects", "/workers")


@router.post("/platform/resume")
async def resume_platform(
    request: Request, visitor: Visitor = visit(Permission.PLATFORM)
) -> Response:
    """Let them fire again."""
    await visitor.operations.pauses.resume_all(visitor.actor)
    return redirect_with_toast(request, "Resumed all projects", "/workers")
