"""The dashboard as an application of its own, mounted beside the API."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from tickwell.errors import TickwellError, Unauthenticated
from tickwell.ui import failures
from tickwell.ui.live import Hub
from tickwell.ui.strangers import Strangers
from tickwell.ui.views import ROUTERS
from tickwell.web.context import Context
from tickwell.web.route_permission import permission_of


def create_ui(context: Context) -> FastAPI:
    """All pages over one context; errors are pages too."""
    app = FastAPI(title="Tickwell", openapi_url=None, docs_url=None, redoc_url=None)
    app.state.context = context
    app.state.hub = Hub(context.events)
    for router in ROUTERS:
        app.include_router(router)
    for route in pages():
        permission_of(route)  # a page that declares none is a mistake, found at the start
    app.add_exception_handler(Unauthenticated, failures.on_stranger)
    app.add_exception_handler(TickwellError, failures.on_error)
    app.add_exception_handler(HTTPException, failures.on_http)
    app.add_exception_handler(RequestValidationError, failures.on_parameters)
    app.add_exception_handler(Exception, failures.on_bug)
    app.add_middleware(Strangers)
    return app


def pages() -> list[APIRoute]:
    """Every route of the dashboard."""
    routes = [route for router in ROUTERS for route in router.routes]
    found = [route for route in routes if isinstance(route, APIRoute)]
    if len(found) != len(routes):
        raise TypeError("a route of the dashboard cannot declare a permission")
    return found
