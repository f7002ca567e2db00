"""The application: every route under `/api/v1`, and the same under `/api`."""

from __future__ import annotations

from collections.abc import Iterable
from copy import copy
from functools import cache

from fastapi import APIRouter, FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute, compile_path

from tickwell.api.edge import Edge
from tickwell.api.forwarded import Forwarded
from tickwell.api.openapi import describe
from tickwell.api.routes import ROOT, ROUTERS
from tickwell.api.traced import Traced
from tickwell.errors import TickwellError
from tickwell.web import problems
from tickwell.web.context import Context
from tickwell.web.route_permission import direct, permission_of


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
    app.router.routes.extend(_routes())
    describe(app)
    app.add_exception_handler(TickwellError, problems.on_error)
    app.add_exception_handler(HTTPException, problems.on_http)
    app.add_exception_handler(RequestValidationError, problems.on_parameters)
    app.add_exception_handler(Exception, problems.on_bug)
    app.add_middleware(Traced)
    app.add_middleware(Edge)
    if context.settings.trusted_proxies:
        app.add_middleware(Forwarded, trusted=context.settings.trusted_proxies)
    return app


@cache
def _routes() -> list[APIRoute]:
    """Made once: they know nothing of an application, and take a tenth of a second."""
    versioned = flat(ROUTERS, "/api/v1")
    plain = [_twin(route, route.path.replace("/api/v1", "/api", 1)) for route in versioned]
    return versioned + plain + flat(ROOT, "")


def flat(routers: Iterable[APIRouter], prefix: str) -> list[APIRoute]:
    """One flat list of routes, each with its permission: what is nested is matched in steps."""
    return [_route(route, prefix) for router in routers for route in router.routes]


def _route(route: BaseRoute, prefix: str) -> APIRoute:
    if not isinstance(route, APIRoute):
        raise TypeError(f"{route} is not a route that can declare a permission")
    made = APIRoute(
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
        response_model=None,
        response_class=JSONResponse,
        include_in_schema=route.include_in_schema,
        openapi_extra={**(route.openapi_extra or {}), "x-permission": permission_of(route)},
    )
    if (short := direct(made)) is not None:
        made.app = short
    return made


def _twin(route: APIRoute, path: str) -> APIRoute:
    """The same at another path, and not described again."""
    twin = copy(route)
    twin.path, twin.include_in_schema = path, False
    twin.path_regex, twin.path_format, twin.param_convertors = compile_path(path)
    return twin
