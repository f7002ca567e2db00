"""`/health` as a bare ASGI application, for processes without the API."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from typing import Any

from tickwell.domain.health import Health

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]


class HealthApp:
    """Answers 200 while the engine works, 503 while it does not, as the API does.

    It can ask nobody who they are: why it does not is told to this machine alone.
    """

    def __init__(self, health: Callable[[], Health], store: str) -> None:
        self.health = health
        self.store = store

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; the lifespan belongs to the engine, not to the server."""
        if scope["type"] != "http":
            return
        status, body = self._answer(scope)
        content = json.dumps(body).encode() + b"\n"
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(content)).encode()),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        body_sent = b"" if scope["method"] == "HEAD" else content
        await send({"type": "http.response.body", "body": body_sent})

    def _answer(self, scope: Scope) -> tuple[int, dict[str, Any]]:
        method, path = scope["method"], scope["path"]
        if path not in {"/health", "/health/detailed", "/healthz", "/readyz", "/"}:
            return 404, {"error": "no such page; /health says how the service is"}
        if method not in {"GET", "HEAD"}:
            return 405, {"error": f"{method} is not offered here; use GET"}
        if path == "/healthz":  # a restart does not bring a store back
            return 200, _said(ok=True)
        if path == "/health/detailed" and not _is_near(scope):
            return 403, {"error": "without the API this is told to the same machine only"}
        health = self.health()
        details = self._details(health) if path == "/health/detailed" else {}
        return (200 if health.ok else 503), _said(ok=health.ok) | details

    def _details(self, health: Health) -> dict[str, Any]:
        return {
            "store": self.store,
            "problems": health.problems,
            "full": health.full,
            "in_hand": health.in_hand,
            "backlog": health.backlog,
        }


def _said(*, ok: bool) -> dict[str, Any]:
    return {"status": "healthy" if ok else "unhealthy", "service": "scheduler"}


def _is_near(scope: Scope) -> bool:
    return scope.get("client") is not None and ip_address(scope["client"][0]).is_loopback
