"""Projects, and their limits."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from tickwell.api import values
from tickwell.api.describe import described
from tickwell.api.models import administration as models
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.documents import instant_text
from tickwell.services.limits.quota import LIMITS, quota_from_document, quota_to_document
from tickwell.services.projects.projects import Project
from tickwell.web import bodies
from tickwell.web.context import administration_of, context_of
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow

router = APIRouter(tags=["projects"])


@router.get("/projects", **described("list_projects", models.Projects))
async def list_projects(request: Request, actor: Actor = allow(Permission.PLATFORM)) -> Response:
    """All projects, by name."""
    found = await administration_of(request).projects.list(actor)
    return answer({"items": [_document(project) for project in found]})


@router.post(
    "/projects",
    **described(
        "create_project",
        models.Project,
        status=201,
        body=models.ProjectToMake,
        body_required=True,
        example={"name": "acme", "title": "Acme", "admin": "ada@example.com"},
    ),
)
async def create(request: Request, actor: Actor = allow(Permission.PLATFORM)) -> Response:
    """Make a project; `admin` is its first member, or whoever asks."""
    body = await bodies.read_bytes(request)

    async def act() -> Response:
        given = bodies.object_of(body, "name", "title", "admin")
        made = await administration_of(request).projects.create(
            actor,
            values.text(given.get("name"), "name"),
            title=values.text(given.get("title"), "title", 255),
            admin=values.text(given.get("admin"), "admin") or None,
        )
        return answer(_document(made), 201)

    return await context_of(request).idempotency.once(request, actor, body, act)


@router.get("/projects/{name}/export", **described("export_project", models.Export))
async def export(
    request: Request, name: str, actor: Actor = allow(Permission.PLATFORM)
) -> Response:
    """Definitions, members, and the names of secrets."""
    return answer(await administration_of(request).projects.export(actor, name))


@router.put("/projects/{name}/admins/{user}", **described("appoint_admin", models.Done))
async def appoint(
    request: Request, name: str, user: str, actor: Actor = allow(Permission.PLATFORM)
) -> Response:
    """Make a user an admin of a project: the way in when its last one is gone."""
    await bodies.read_object(request)
    await administration_of(request).projects.appoint(actor, name, user)
    return answer({"done": True})


@router.put(
    "/projects/{name}/limits",
    **described(
        "set_limits",
        models.Limits,
        body=models.LimitsToSet,
        body_required=True,
        example={"jobs": 1000, "fires_per_day": 10000},
    ),
)
async def set_limits(
    request: Request, name: str, actor: Actor = allow(Permission.PLATFORM)
) -> Response:
    """Give a project limits of its own."""
    quota = quota_from_document(await bodies.read_object(request, *LIMITS))
    administration = administration_of(request)
    await administration.projects.get(actor, name)
    return answer(quota_to_document(await administration.limits.set(actor, name, quota)))


@router.delete("/projects/{name}", **described("delete_project", models.Done))
async def delete(
    request: Request, name: str, actor: Actor = allow(Permission.PLATFORM)
) -> Response:
    """Take a project away: its keys and members at once, its jobs, its secrets."""
    await administration_of(request).projects.delete(actor, name)
    return answer({"done": True})


@router.get("/limits", **described("get_limits", models.Limits))
async def get_limits(request: Request, actor: Actor = allow(Permission.READ)) -> Response:
    """The limits of the project."""
    return answer(quota_to_document(await administration_of(request).limits.get(actor)))


def _document(project: Project) -> dict[str, Any]:
    return {
        "name": project.name,
        "title": project.title,
        "created_at": instant_text(project.created_at),
        "created_by": project.created_by,
    }
