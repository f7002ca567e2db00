"""The HTTP server inside the engine's process."""

from __future__ import annotations

import contextlib
import socket
from collections.abc import Iterator
from importlib.util import find_spec
from typing import Any

from tickwell.errors import InvalidSetting


def require_server() -> None:
    """Raise `InvalidSetting` when the server is not installed."""
    if find_spec("uvicorn") is None or find_spec("fastapi") is None:
        raise InvalidSetting(
            "the HTTP listener needs the server extra",
            field="http",
            hint="pip install 'tickwell[server]', or pass --no-http",
        )


async def serve(application: Any, sock: socket.socket) -> None:
    """Serve an ASGI application on a bound socket until cancelled."""
    import uvicorn

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            """Signals belong to the engine, which drains first."""
            yield

    config = uvicorn.Config(
        application,
        lifespan="off",
        log_level="warning",
        access_log=False,
        server_header=False,
        # The application judges by its own settings which proxies are to be believed.
        proxy_headers=False,
        timeout_graceful_shutdown=5,
    )
    await Server(config).serve(sockets=[sock])
