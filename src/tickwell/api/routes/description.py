"""The description of the API, for those who may use it."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI, Request, Response

from tickwell.services.access.permission import Permission
from tickwell.web.json_response import answer
from tickwell.web.route_permission import allow

router = APIRouter(include_in_schema=False)


@router.get("", dependencies=[allow(Permission.READ)])
async def index(request: Request) -> Response:
    """What this is, and where it is described."""
    app: FastAPI = request.app
    info, path = app.openapi()["info"], request.scope["path"]
    return answer(
        {
            "name": info["title"],
            "version": info["version"],
            "description": f"{path}/openapi.json",
            "jobs": f"{path}/jobs",
            "executions": f"{path}/executions",
        }
    )


@router.get("/openapi.json", dependencies=[allow(Permission.READ)])
async def description(request: Request) -> Response:
    """OpenAPI 3.1."""
    app: FastAPI = request.app
    return answer(app.openapi())
