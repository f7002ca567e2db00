"""Health as documents, and as a bare ASGI application for processes without the API.

A probe fails, with 503, only for what keeps the probed process itself from answering: its store or
its own loops. Missing planners and workers, parked work and paused queues are in the body instead:
failing the probe would take a healthy API out of the load balancer, and any user could cause it
with one job in a queue without a worker.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import replace
from ipaddress import ip_address
from typing import Any

from tickwell.domain.health import Finding, Health, Level
from tickwell.services.documents import finding_document
from tickwell.services.health import HealthReader
from tickwell.web.host_header import is_own_name
from tickwell.web.problem_document import MEDIA_TYPE, kind_of, problem_document

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Scope]]
Send = Callable[[Scope], Awaitable[None]]
Asgi = Callable[[Scope, Receive, Send], Awaitable[None]]

METRICS_PATHS = frozenset({"/metrics", "/metrics/prometheus"})

_PATHS = frozenset({"/health", "/health/detailed", "/healthz", "/readyz", "/"})
#: Who comes with one of these is somebody behind a proxy, wherever the proxy is.
_FORWARDED = frozenset(
    {b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-proto", b"x-real-ip"}
    | {b"forwarded", b"via"}
)


#: What probes and people read for each level, when the process itself works.
_STATUS = {Level.GREEN: "healthy", Level.AMBER: "degraded", Level.RED: "degraded"}


def alive() -> dict[str, Any]:
    """That this process answers, and nothing else: a restart does not bring a store back."""
    return {"status": "healthy", "service": "scheduler"}


def verdict(health: Health) -> tuple[int, dict[str, Any]]:
    """For probes and callers without a key: nothing that one project's jobs can cause."""
    level = health.shared_level
    status = _STATUS[level] if health.ready else "unhealthy"
    body = {"status": status, "service": "scheduler", "level": level.value}
    return (200 if health.ready else 503), body


def details(health: Health, store: str) -> tuple[int, dict[str, Any]]:
    """For people and monitoring with a key: 503 while anything is red."""
    process = health.process
    status = "unhealthy" if health.level is Level.RED else _STATUS[health.level]
    body = {
        "status": status,
        "service": "scheduler",
        "level": health.level.value,
        "database": _connected(answers=health.database),
        "redis": "not configured" if health.redis is None else _connected(answers=health.redis),
        "scheduler_service": health.scheduler_service,
        "store": store,
        "findings": [finding_document(each) for each in health.findings],
        "in_hand": process.in_hand if process else 0,
        "backlog": process.backlog if process else 0,
    }
    return (503 if health.level is Level.RED else 200), body


def outage(health: Health) -> dict[str, Any]:
    """What any caller is told while keys cannot be checked: no names, no errors, no findings."""
    text = "the store does not answer; details follow once it does"
    finding = Finding("store", Level.RED, text, "Start it, or restore the network to it")
    return details(replace(health, findings=[finding], process=None), "")[1]


def _connected(*, answers: bool) -> str:
    return "connected" if answers else "disconnected"


class HealthApp:
    """Answers as the API does.

    It cannot authenticate callers: the details are told to this machine alone.
    """

    def __init__(
        self, health: HealthReader, metrics: Asgi | None = None, *, bound: str = ""
    ) -> None:
        self.health = health
        #: The address that the process listens on.
        self.bound = bound
        #: Answers `/metrics`, if anything is counted.
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one request; the lifespan belongs to the engine, not to the server."""
        if scope["type"] != "http":
            return
        if self.metrics is not None and scope["path"] in METRICS_PATHS:
            await self.metrics(scope, receive, send)
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
        if path == "/healthz":
            return 200, alive()
        if path == "/health/detailed" and not is_near(scope, self.bound):
            return _problem(403, "without the API, this page answers only the same machine")
        health = await self.health.platform()
        if path == "/health/detailed":
            return details(health, self.health.store.name)
        return verdict(health)


def _problem(status: int, detail: str) -> tuple[int, dict[str, Any]]:
    return status, problem_document(status, kind_of(status), detail)


def is_near(scope: Scope, bound: str) -> bool:
    """Whether the request comes from this machine, and not through a proxy that says so.

    A browser here asks for whatever page it shows, under the name of that page.
    """
    if any(name in _FORWARDED for name, _ in scope["headers"]):
        return False
    host = b",".join(value for name, value in scope["headers"] if name == b"host")
    return _is_loopback(scope) and is_own_name(host.decode("latin-1"), bound)


def _is_loopback(scope: Scope) -> bool:
    """Whether the other end of the connection is on this machine."""
    try:
        return scope.get("client") is not None and ip_address(scope["client"][0]).is_loopback
    except ValueError:  # no address: a Unix socket, or a test client
        return False
