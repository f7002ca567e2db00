"""The HTTP server inside the engine's process."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Iterator
from importlib.util import find_spec
from logging import DEBUG
from resource import RLIM_INFINITY, RLIMIT_NOFILE, getrlimit
from typing import Any

from tickwell.errors import InvalidSetting
from tickwell.log.event import wants
from tickwell.settings import Settings

#: Connections that are open at once, whatever the machine would allow.
MOST = 10_000
#: Seconds that requests under way get to be answered when the server leaves.
GOODBYE = 5


def require_server() -> None:
    """Raise `InvalidSetting` when the server is not installed."""
    if find_spec("uvicorn") is None or find_spec("fastapi") is None:
        raise InvalidSetting(
            "the HTTP listener needs the server extra",
            field="http",
            hint="pip install 'tickwell[server]', or run tickwell serve --no-http",
        )


def require_framework() -> None:
    """Raise `InvalidSetting` when what API and dashboard are made with is not installed."""
    if find_spec("fastapi") is None:
        raise InvalidSetting(
            "API and dashboard need the server extra",
            field="asgi",
            hint="pip install 'tickwell[server]'",
        )


def require_certificate(settings: Settings) -> None:
    """Raise `InvalidSetting` for a certificate or key that cannot be used; none is fine."""
    if not settings.tls_cert:
        return
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER).load_cert_chain(
            settings.tls_cert, settings.tls_key, password=lambda: ""
        )
    except OSError as error:
        raise InvalidSetting(
            f"{settings.tls_cert} and {settings.tls_key} cannot be used: {error}",
            field="tls_cert",
            hint="Name PEM files that this user can read, the key without a passphrase",
        ) from error


def most_connections() -> int:
    """Half of the files that may be open: the store and webhooks need theirs."""
    soft, _ = getrlimit(RLIMIT_NOFILE)
    return MOST if soft == RLIM_INFINITY else max(2, min(soft // 2, MOST))


async def serve(
    application: Any,
    sock: socket.socket,
    settings: Settings | None = None,
    leaving: asyncio.Event | None = None,
) -> None:
    """Serve an ASGI application on a bound socket until cancelled.

    When it is leaving, nobody new is let in, and what is being asked is answered, within seconds.
    """
    import uvicorn

    from tickwell.api.http.connection import Connection

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Signals belong to the engine, which drains first."""
            yield

        async def on_tick(self, counter: int) -> bool:
            """Look whether it is time to leave."""
            is_leaving = leaving is not None and leaving.is_set()
            return await super().on_tick(counter) or is_leaving

    config = uvicorn.Config(
        application,
        http=Connection,
        ws="none",
        limit_concurrency=most_connections(),
        lifespan="off",
        # Records go to the root logger, whose handlers decide; one a request, only if wanted.
        log_config=None,
        access_log=wants(DEBUG),
        server_header=False,
        # The application judges by its own settings which proxies are to be believed.
        proxy_headers=False,
        timeout_graceful_shutdown=GOODBYE,
        ssl_certfile=(settings and settings.tls_cert) or None,
        ssl_keyfile=(settings and settings.tls_key) or None,
    )
    server = Server(config)
    try:
        await server.serve(sockets=[sock])
    finally:
        # A server that is cancelled goes on listening, and leaves connections as they are;
        # browsers keep theirs open.
        for listening in getattr(server, "servers", ()):
            listening.close()
        for connection in [*server.server_state.connections]:
            connection.transport.abort()
