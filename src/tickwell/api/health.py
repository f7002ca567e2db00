"""`/health` as a bare ASGI application."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from typing import Any

from tickwell.domain.health import Health

Scope = dict[str, Any]
Receive = Callable[[], Awaitable[dict[str, Any]]]
Send = Callable[[dict[str, Any]], Awaitable[None]]


class HealthApp:
    """Answers 200 while the engine works, 503 with the reasons while it does not."""

    def __init__(self, health: Callable[[], Health], store: str) -> None:
        self.health = health
        self.store = store

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; the lifespan belongs to the engine, not to the server."""
        if scope["type"] != "http":
            return
        status, body = self._answer(scope["method"], scope["path"])
        content = json.dumps(body).encode() + b"\n"
        headers = [
            (b"content-type", b"application/json"),
            (b"content-length", str(len(content)).encode()),
            (b"cache-control", b"no-store"),
        ]
        await send({"type": "http.response.start", "status": status, "headers": headers})
        body_sent = b"" if scope["method"] == "HEAD" else content
        await send({"type": "http.response.body", "body": body_sent})

    def _answer(self, method: str, path: str) -> tuple[int, dict[str, Any]]:
        if path not in {"/health", "/healthz", "/readyz", "/"}:
            return 404, {"error": "no such page; /health says how the service is"}
        if method not in {"GET", "HEAD"}:
            return 405, {"error": f"{method} is not offered here; use GET"}
        health = self.health()
        return (200 if health.ok else 503), {
            "status": "healthy" if health.ok else "unhealthy",
            "service": "scheduler",
            "problems": health.problems,
            "store": self.store,
            "in_hand": health.in_hand,
            "backlog": health.backlog,
        }
