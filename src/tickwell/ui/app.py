"""The dashboard as an ASGI application, mounted next to the API."""

from __future__ import annotations

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from tickwell.errors import TickwellError, Unauthenticated
from tickwell.ui import error_pages
from tickwell.ui.anonymous_limits import AnonymousLimits
from tickwell.ui.live import Hub
from tickwell.ui.views import ROUTERS
from tickwell.web.authentication import permission_of
from tickwell.web.context import Context
from tickwell.web.telemetry import NO_TELEMETRY


def create_ui(context: Context) -> FastAPI:
    """All pages of the dashboard, error pages included."""
    app = FastAPI(
        title="Tickwell", openapi_url=None, docs_url=None, redoc_url=None, telemetry=NO_TELEMETRY
    )
    app.state.context = context
    app.state.hub = Hub(context.events)
    for router in ROUTERS:
        app.include_router(router)
    for route in pages():
        permission_of(route)  # a page without a permission fails at start-up
    app.add_exception_handler(Unauthenticated, error_pages.on_unauthenticated)
    app.add_exception_handler(TickwellError, error_pages.on_error)
    app.add_exception_handler(HTTPException, error_pages.on_http)
    app.add_exception_handler(RequestValidationError, error_pages.on_parameters)
    app.add_exception_handler(Exception, error_pages.on_bug)
    app.add_middleware(AnonymousLimits)
    return app


def pages() -> list[APIRoute]:
    """Every route of the dashboard."""
    routes = [route for router in ROUTERS for route in router.routes]
    found = [route for route in routes if isinstance(route, APIRoute)]
    if len(found) != len(routes):
        raise TypeError("a route of the dashboard cannot declare a permission")
    return found
