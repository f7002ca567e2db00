"""The application: every route under `/api/v1`, and the same under `/api`."""

from __future__ import annotations

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from tickwell.api import problems
from tickwell.api.context import Context
from tickwell.api.edge import Edge
from tickwell.api.forwarded import Forwarded
from tickwell.api.openapi import describe
from tickwell.api.routes import ROOT, ROUTERS
from tickwell.api.security import direct, permission_of
from tickwell.errors import TickwellError


def create_app(context: Context) -> FastAPI:
    """The application over one context; its lifespan belongs to whoever runs the engine."""
    app = FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        # Would look into the environment at each request, whether or not anybody traces.
        telemetry={"tracing": False, "metrics": False, "logs": False},
    )
    app.state.context = context
    for prefix in ("/api/v1", "/api"):
        for router in ROUTERS:
            _add(app, router, prefix)
    for router in ROOT:
        _add(app, router, "")
    describe(app)
    app.add_exception_handler(TickwellError, problems.on_error)
    app.add_exception_handler(HTTPException, problems.on_http)
    app.add_exception_handler(RequestValidationError, problems.on_parameters)
    app.add_exception_handler(Exception, problems.on_bug)
    app.add_middleware(Edge)
    if context.settings.trusted_proxies:
        app.add_middleware(Forwarded, trusted=context.settings.trusted_proxies)
    return app


def _add(app: FastAPI, router: APIRouter, prefix: str) -> None:
    """One flat list of routes, each with its permission: what is nested is matched in steps."""
    for route in router.routes:
        if not isinstance(route, APIRoute):
            raise TypeError(f"{route} is not a route that can declare a permission")
        app.add_api_route(
            prefix + route.path,
            route.endpoint,
            methods=sorted(route.methods or ()),
            status_code=route.status_code,
            tags=route.tags,
            dependencies=route.dependencies,
            summary=route.summary,
            description=route.description,
            responses=route.responses,
            operation_id=route.operation_id,
            response_class=JSONResponse,
            include_in_schema=route.include_in_schema and prefix != "/api",
            openapi_extra={**(route.openapi_extra or {}), "x-permission": permission_of(route)},
        )
        added = app.routes[-1]
        if isinstance(added, APIRoute) and (short := direct(added)) is not None:
            added.app = short
