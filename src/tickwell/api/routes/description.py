"""The description of the API."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response

from tickwell.api.http.route import HttpGroup
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.operations.schema import Output
from tickwell.web.json_response import respond

GROUP = HttpGroup("description")


@GROUP.get("", Permission.READ, Output, is_described=False, in_clients=False)
async def index(request: Request, _actor: Actor) -> Response:
    """What this is, and where it is described."""
    app: FastAPI = request.app
    info, path = app.openapi()["info"], request.scope["path"]
    return respond(
        {
            "name": info["title"],
            "version": info["version"],
            "description": f"{path}/openapi.json",
            "jobs": f"{path}/jobs",
            "executions": f"{path}/executions",
        }
    )


@GROUP.get("/openapi.json", None, Output, is_described=False, in_clients=False)
async def description(request: Request, _actor: Actor | None) -> Response:
    """OpenAPI 3.1."""
    app: FastAPI = request.app
    return respond(app.openapi())
