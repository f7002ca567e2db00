"""Health as documents, and as a bare ASGI application for processes without the API."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from ipaddress import ip_address
from typing import Any

from tickwell.api.problem_document import MEDIA_TYPE, kind_of, problem_document
from tickwell.domain.health import Health

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]

_PATHS = frozenset({"/health", "/health/detailed", "/healthz", "/readyz", "/"})
#: Who comes with one of these is somebody behind a proxy, wherever the proxy is.
_FORWARDED = frozenset({b"x-forwarded-for", b"forwarded", b"x-real-ip"})


def verdict(*, ok: bool) -> dict[str, Any]:
    """For probes."""
    return {"status": "healthy" if ok else "unhealthy", "service": "scheduler"}


def details(engine: Health, store: str, *, connected: bool) -> dict[str, Any]:
    """For people."""
    return verdict(ok=engine.ok and connected) | {
        "database": "connected" if connected else "disconnected",
        "scheduler_service": "running" if engine.ok else "failing",
        "store": store,
        "problems": engine.problems,
        "full": engine.full,
        "parked": engine.parked,
        "in_hand": engine.in_hand,
        "backlog": engine.backlog,
    }


class HealthApp:
    """Answers 200 while the engine works and the store answers, else 503, as the API does.

    It can ask nobody who they are: why it does not is told to this machine alone.
    """

    def __init__(
        self, health: Callable[[], Health], store: str, answers: Callable[[], Awaitable[bool]]
    ) -> None:
        self.health = health
        self.store = store
        self.store_answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; the lifespan belongs to the engine, not to the server."""
        if scope["type"] != "http":
            return
        status, body = await self._answer(scope)
        content = json.dumps(body).encode() + b"\n"
        kind = MEDIA_TYPE if "type" in body else "application/json"
        headers = [
            (b"content-type", kind.encode()),
            (b"content-length", str(len(content)).encode()),
            (b"cache-control", b"no-store"),
        ]
        if status == 405:
            headers.append((b"allow", b"GET, HEAD"))
        await send({"type": "http.response.start", "status": status, "headers": headers})
        body_sent = b"" if scope["method"] == "HEAD" else content
        await send({"type": "http.response.body", "body": body_sent})

    async def _answer(self, scope: Scope) -> tuple[int, dict[str, Any]]:
        method, path = scope["method"], scope["path"]
        if path not in _PATHS:
            return _problem(404, "no such page; /health says how the service is")
        if method not in {"GET", "HEAD"}:
            return _problem(405, f"{method} is not offered here; use GET")
        if path == "/healthz":  # a restart does not bring a store back
            return 200, verdict(ok=True)
        if path == "/health/detailed" and not _is_near(scope):
            return _problem(403, "without the API this is told to the same machine only")
        engine, connected = self.health(), await self.store_answers()
        ok = engine.ok and connected
        if path == "/health/detailed":
            return (200 if ok else 503), details(engine, self.store, connected=connected)
        return (200 if ok else 503), verdict(ok=ok)


def _problem(status: int, detail: str) -> tuple[int, dict[str, Any]]:
    return status, problem_document(status, kind_of(status), detail)


def _is_near(scope: Scope) -> bool:
    if any(name in _FORWARDED for name, _ in scope["headers"]):
        return False
    return scope.get("client") is not None and ip_address(scope["client"][0]).is_loopback
