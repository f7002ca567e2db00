"""The service that `tickwell serve` runs: an engine, its worker processes, an HTTP listener."""

from __future__ import annotations

import asyncio
import signal
import socket
import sys

import typer

from tickwell.api.health import HealthApp
from tickwell.errors import InvalidSetting
from tickwell.scheduler import Scheduler


class Service:
    """Starts everything, says so, and takes it down in order when asked to stop."""

    def __init__(
        self,
        scheduler: Scheduler,
        *,
        roles: frozenset[str],
        workers: int,
        http: bool,
        host: str,
        port: int,
        supervised: bool,
        app: str | None,
    ) -> None:
        self.scheduler = scheduler
        self.roles = roles if not workers else frozenset({"planner"})
        self.workers = workers
        self.http = http
        self.host = host
        self.port = port
        self.supervised = supervised
        self.app = app
        self.stopping = asyncio.Event()

    async def run(self) -> None:
        """Serve until a signal, or until the supervisor that started this process is gone."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._on_signal)
        sock = _bind(self.host, self.port) if self.http else None
        orphaned = asyncio.create_task(self._watch_parent()) if self.supervised else None
        await self.scheduler.start(self.roles)
        supervisor = self.scheduler.supervise(self._command(), self.workers)
        await supervisor.start()
        listening = asyncio.create_task(self._listen(sock)) if sock else None
        self._say(sock)
        try:
            await self.stopping.wait()
            self._tell("stopping: no new claims, running attempts may end")
        finally:
            drain = self.scheduler.settings.drain_timeout
            await asyncio.gather(supervisor.stop(drain + 2), self.scheduler.stop())
            for task in (listening, orphaned):
                if task is not None:
                    task.cancel()
                    await asyncio.gather(task, return_exceptions=True)

    def _on_signal(self) -> None:
        if self.stopping.is_set():
            raise KeyboardInterrupt  # asked twice: stop now; what ran is recovered by others
        self.stopping.set()

    def _command(self) -> list[str]:
        """The same service as a worker process; arguments carry no secrets."""
        command = [sys.executable, "-m", "tickwell", "serve", "--role", "worker"]
        command += ["--no-http", "--supervised", "--store", self.scheduler.store_url]
        return [*command, "--app", self.app] if self.app else command

    async def _watch_parent(self) -> None:
        """The supervisor holds our standard input open; its end means that we are orphaned."""
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        await reader.read()
        self.stopping.set()

    async def _listen(self, sock: socket.socket) -> None:
        from tickwell.api.server import serve

        await serve(HealthApp(self.scheduler.health, self.scheduler.store_url), sock)

    def _say(self, sock: socket.socket | None) -> None:
        does = " and ".join(sorted(self.roles))
        self._tell(f"tickwell runs: {does}, store {self.scheduler.store_url}")
        if self.workers:
            self._tell(f"  {self.workers} worker processes, restarted when they end")
        if sock is not None:
            address, port = sock.getsockname()[:2]
            self._tell(f"  http://{address}:{port}/health says how it is")
        self._tell("  Ctrl-C drains and stops")

    def _tell(self, line: str) -> None:
        if not self.supervised:  # the supervisor speaks for all of them
            typer.echo(line, err=True)


def _bind(host: str, port: int) -> socket.socket:
    sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        sock.bind((host, port))
        sock.listen()  # from here on a request waits for the server instead of being refused
    except OSError as error:
        sock.close()
        raise InvalidSetting(
            f"cannot listen on {host}:{port}: {error.strerror}",
            field="port",
            hint="Choose another with --port, or pass --no-http",
        ) from error
    return sock
