"""The application: every operation under `/api/v1`, and under `/api` for flat bodies."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.routing import Route

from tickwell.api import openapi
from tickwell.api.http.edge import Edge
from tickwell.api.http.forwarded import Forwarded
from tickwell.api.http.request_spans import RequestSpans
from tickwell.api.http.route import ROOT, OperationRoute
from tickwell.api.routes import ALL
from tickwell.api.routes.ping import PING
from tickwell.errors import TickwellError
from tickwell.services.operations.declaration import Operation
from tickwell.web import problems
from tickwell.web.context import Context
from tickwell.web.telemetry import NO_TELEMETRY


def create_app(context: Context) -> FastAPI:
    """The application over one context; its lifespan belongs to the engine's process."""
    app = FastAPI(
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        telemetry=NO_TELEMETRY,
    )
    app.state.context = context
    app.router.routes.extend(_routes())
    context.describe = openapi.document
    app.openapi = openapi.document  # type: ignore[method-assign]
    app.add_exception_handler(TickwellError, problems.on_error)
    app.add_exception_handler(HTTPException, problems.on_http)
    app.add_exception_handler(RequestValidationError, problems.on_parameters)
    app.add_exception_handler(Exception, problems.on_bug)
    app.add_middleware(RequestSpans)
    app.add_middleware(Edge)
    if context.settings.trusted_proxies:
        app.add_middleware(Forwarded, trusted=context.settings.trusted_proxies)
    return app


def _routes() -> list[Route]:
    below = [each for each in ALL if not each.at_root]
    return [
        *(OperationRoute(each, ROOT + each.path) for each in below),
        *(OperationRoute(each, "/api" + each.path, flat=True) for each in below),
        *(OperationRoute(each, each.path) for each in ALL if each.at_root),
        PING,
        *(OperationRoute(each, path, flat=True) for each in below if (path := _as_schedules(each))),
    ]


def _as_schedules(operation: Operation) -> str:
    """Where an operation on jobs is found by those who call them schedules."""
    first, _, rest = operation.path.removeprefix("/").partition("/")
    return "/".join(["/api/schedules", *filter(None, [rest])]) if first == "jobs" else ""
