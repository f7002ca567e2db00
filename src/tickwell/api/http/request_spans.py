"""Requests to the API as spans, so that a run that one of them requests is linked to its caller."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from tickwell.observe.traces import find_spans

if TYPE_CHECKING:
    from tickwell.observe.spans import Spans


class RequestSpans:
    """Stands inside of the edge. Health and pages are asked all the time, and make no spans."""

    def __init__(self, application: ASGIApp) -> None:
        self.application = application

    @cached_property
    def spans(self) -> Spans | None:
        """Looked for with the first request: an application may set its SDK up after us."""
        return find_spans()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, in a span if spans are recorded."""
        if not _is_api(scope) or self.spans is None:
            await self.application(scope, receive, send)
            return
        headers = Headers(scope=scope)
        with self.spans.serve(scope["method"], headers) as span:

            async def noted(message: Message) -> None:
                if message["type"] == "http.response.start":
                    span.set_attribute("http.response.status_code", message["status"])
                await send(message)

            try:
                await self.application(scope, receive, noted)
            finally:
                route = getattr(scope.get("route"), "path", None)
                if route is not None:  # not the path itself, which has ids in it
                    span.update_name(f"{scope['method']} {route}")
                    span.set_attribute("http.route", route)


def _is_api(scope: Scope) -> bool:
    if scope["type"] != "http":
        return False
    path: str = scope["path"]
    return path.removeprefix(scope.get("root_path", "")).startswith("/api/")
