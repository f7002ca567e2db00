"""The definitions that a job had, what changed from one to the next, and who did what to it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.domain.job import Job
from tickwell.errors import NotFound
from tickwell.services.access.actor import Permission
from tickwell.services.audit.entry import Entry
from tickwell.services.jobs.fire_times import is_edited
from tickwell.ui.draft import definition
from tickwell.ui.formatting import lines_between
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

#: Versions on the page.
SHOWN = 50

router = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Step:
    """A definition, and the lines in which it differs from the one before."""

    job: Job
    changes: list[str]


@router.get("/jobs/{id}/versions")
async def versions(
    request: Request, id: str, visitor: Visitor = visit(Permission.READ)
) -> HTMLResponse:
    """Newest first."""
    operations, actor = visitor.operations, visitor.actor
    entry = await operations.jobs.get(actor, id)
    found = await operations.slots.versions(actor, entry.job.id)
    return page(
        request,
        visitor,
        "versions.html",
        job=entry.job,
        steps=_steps(found),
        total=len(found),
        edited=is_edited(entry.job),
        entries=await _audit(visitor, entry.job.id),
    )


@router.post("/jobs/{id}/versions/{version}/restore")
async def restore(
    request: Request,
    id: str,
    version: int,
    expected: Annotated[int, Form()],
    visitor: Visitor = visit(Permission.EDIT),
) -> Response:
    """Put an older definition in the place of the one that was seen."""
    operations, actor = visitor.operations, visitor.actor
    found = await operations.slots.versions(actor, id)
    old = next((job for job in found if job.version == version), None)
    if old is None:
        raise NotFound("version", str(version))
    changed = await operations.jobs.replace(actor, id, old, expected, exactly=True)
    message = f"Restored version {version} as version {changed.entry.job.version}"
    return redirect_with_toast(request, message, f"/jobs/{changed.entry.job.id}")


def _steps(found: Sequence[Job]) -> list[Step]:
    older = [*found[1 : SHOWN + 1], None]
    return [
        Step(job, lines_between(None if old is None else definition(old), definition(job)))
        for job, old in zip(found[:SHOWN], older, strict=False)
    ]


async def _audit(visitor: Visitor, id: str) -> Sequence[Entry] | None:
    """Who changed what, for those with the permission."""
    if visitor.context.admin is None or not visitor.may(Permission.ADMINISTER):
        return None
    return await visitor.admin.audit.about(visitor.actor, f"job/{id}")
