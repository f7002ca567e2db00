"""Missed fires that are held: which jobs hold some, and the decision about them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse

from tickwell.domain.backlog import BacklogAnswer
from tickwell.services.access.actor import Permission
from tickwell.services.jobs.backlogs import BACKLOG_RATE, Decided
from tickwell.ui.redirects import redirect_with_toast
from tickwell.ui.rendering import page
from tickwell.ui.visitor import Visitor, visit

#: Jobs that the page lists.
SHOWN = 200
Choice = Annotated[BacklogAnswer, Form()]
Rate = Annotated[float, Form()]

router = APIRouter(include_in_schema=False)


@router.get("/backlog")
async def backlog(request: Request, visitor: Visitor = visit(Permission.READ)) -> HTMLResponse:
    """The jobs of the project that hold missed fires."""
    held = await visitor.operations.backlogs.list(visitor.actor)
    return page(request, visitor, "backlog.html", held=held, shown=SHOWN)


@router.post("/backlog")
async def answer_backlog(
    request: Request,
    answer: Choice,
    rate: Rate = BACKLOG_RATE,
    visitor: Visitor = visit(Permission.OPERATE),
) -> Response:
    """Decide about all of them."""
    done = await visitor.operations.backlogs.answer(visitor.actor, answer, rate=rate)
    return redirect_with_toast(request, _told(done), "/backlog")


@router.post("/jobs/{id}/backlog")
async def answer_job(
    request: Request,
    id: str,
    answer: Choice,
    rate: Rate = BACKLOG_RATE,
    visitor: Visitor = visit(Permission.OPERATE),
) -> Response:
    """Decide about those of one job."""
    done = await visitor.operations.backlogs.answer(visitor.actor, answer, rate=rate, key=id)
    return redirect_with_toast(request, _told(done), f"/jobs/{id}")


@router.post("/platform/backlog")
async def answer_platform(
    request: Request,
    answer: Choice,
    rate: Rate = BACKLOG_RATE,
    visitor: Visitor = visit(Permission.PLATFORM),
) -> Response:
    """Decide about those of all projects."""
    done = await visitor.operations.backlogs.answer_all(visitor.actor, answer, rate=rate)
    return redirect_with_toast(request, _told(done), "/backlog")


def _told(done: Decided) -> str:
    still = f". Still held by paused jobs: {len(done.paused):,}" if done.paused else ""
    return f"Runs: {done.runs:,}. Skipped: {done.skipped:,}{still}"
