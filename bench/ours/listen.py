"""Serves an application on a free port, which it prints, until its standard input ends."""

import asyncio
import socket
import sys
import threading
from typing import Any

import uvicorn

from tickwell.wiring import have_for_ourselves, loop_factory


def serve(application: Any) -> None:
    """Print the port; end when whoever started this lets go."""
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    config = uvicorn.Config(
        application, lifespan="on", log_level="warning", access_log=False, http="httptools"
    )
    server = uvicorn.Server(config)

    def wait() -> None:
        sys.stdin.read()
        server.should_exit = True

    threading.Thread(target=wait, daemon=True).start()
    have_for_ourselves()  # as `tickwell serve` does
    sock.listen(128)  # whoever reads the port may connect at once
    print(sock.getsockname()[1], flush=True)
    with asyncio.Runner(loop_factory=loop_factory()) as runner:
        runner.run(server.serve([sock]))
