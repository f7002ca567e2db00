"""The service that `tickwell serve` runs: an engine, its worker processes, an HTTP listener."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import sys
from collections.abc import Iterator
from dataclasses import replace
from ipaddress import ip_address
from logging import WARNING
from pathlib import Path
from tempfile import TemporaryDirectory, gettempdir
from typing import TYPE_CHECKING, Any

from tickwell.api.health import HealthApp
from tickwell.api.metrics import MetricsApp
from tickwell.cli.serving.access_lines import access_lines, warnings, webhook_lines
from tickwell.declared.internals import internals
from tickwell.declared.signals import Repeats, end_by
from tickwell.domain.event import StepFailed, StepRecovered
from tickwell.domain.health import ProcessHealth
from tickwell.engine.loop import backoff
from tickwell.errors import InvalidSetting, StoreUnavailable
from tickwell.log import events as lines
from tickwell.observe.log_output.output import LogOutput
from tickwell.observe.metrics.series import remove_abandoned
from tickwell.scheduler import Scheduler

if TYPE_CHECKING:
    from tickwell.services.admin.admin import Bootstrap
    from tickwell.web.context import Context

#: Seconds beyond the drain timeout before a worker process is killed: it writes its reports first.
PATIENCE = 25.0


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
        local: bool = False,
        log: LogOutput,
    ) -> None:
        self.scheduler = scheduler
        self.roles = roles if not workers else roles - {"worker"}
        self.workers = workers
        self.http = http
        self.host = host
        self.port = port
        self.supervised = supervised
        self.app = app
        #: Webhooks may go to this machine; said to worker processes too.
        self.local = local
        self.log = log
        self.stopping = asyncio.Event()
        #: Set when requests under way are answered for the last time.
        self.leaving = asyncio.Event()
        self.listening: asyncio.Task[None] | None = None
        self.repeats = Repeats()
        self.context: Context | None = None
        self.first: Bootstrap | None = None
        if http and "api" in self.roles and not scheduler.settings.auth:
            _require_loopback(host)
        if http and "api" in self.roles:
            from tickwell.services.admin.admin import check_issuers

            check_issuers(scheduler.settings)
        if workers and scheduler.settings.store.startswith("memory:"):
            raise InvalidSetting(
                "worker processes cannot share a store in memory",
                field="workers",
                hint="Choose another --store, or --workers 0",
            )
        if supervised:
            from tickwell.wiring import leave_missing

            # Set up by the supervisor; empty since, it was flushed: no worker begins it anew.
            leave_missing(internals(scheduler).store)
        self._folder = self._share_metrics(scheduler)
        #: What is counted here and in worker processes; None: nothing.
        self.metrics = scheduler.metrics() if scheduler.settings.metrics else None
        # By the environment: the URL may hold a password, and arguments are public.
        environment = os.environ | {"TICKWELL_STORE": scheduler.settings.store}
        if scheduler.settings.notify:
            environment["TICKWELL_NOTIFY"] = scheduler.settings.notify
        environment["TICKWELL_METRICS_DIR"] = scheduler.settings.metrics_dir
        self.supervisor = internals(scheduler).supervise(self._command(), workers, environment)

    def _share_metrics(self, scheduler: Scheduler) -> TemporaryDirectory[str] | None:
        """A folder in which worker processes count, so that this one shows what they did."""
        settings = scheduler.settings
        if not self.workers or not settings.metrics or settings.metrics_dir:
            return None
        prefix = "tickwell-metrics-"
        try:
            remove_abandoned(Path(gettempdir()).glob(f"{prefix}*"))
            folder = TemporaryDirectory(prefix=prefix)
        except OSError as error:  # a full disk, or a container that may write nowhere
            lines.METRICS_UNSHARED.log(reason=str(error))
            return None
        internals(scheduler).settings = replace(settings, metrics_dir=folder.name)
        return folder

    async def run(self) -> None:
        """Serve until a signal, or until the supervisor that started this process is gone."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._on_signal, number)
        sock = self._bind() if self.http else None
        # Webhooks may not go to our own listener: workers must know where it is.
        self.port = sock.getsockname()[1] if sock else self.port
        self.supervisor.command = self._command()
        settings = replace(self.scheduler.settings, host=self.host, port=self.port)
        internals(self.scheduler).settings = settings
        orphaned = asyncio.create_task(self._watch_parent()) if self.supervised else None
        try:
            if await self._start(self.roles if sock else self.roles - {"api"}):
                await self._serve(sock)
        finally:
            if self.context is not None:
                await self.context.close()
            drain = self.scheduler.settings.drain_timeout
            await asyncio.gather(self.supervisor.stop(drain + PATIENCE), self.scheduler.stop())
            if orphaned is not None:
                orphaned.cancel()
            if self._folder is not None:
                self._folder.cleanup()
        if self.listening is not None:
            self.listening.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self.listening

    async def _serve(self, sock: socket.socket | None) -> None:
        """From the start of the engine until the service is asked to stop."""
        self.scheduler.on("stop")(self._hang_up)  # which the store waits for
        await self.supervisor.start()
        if sock:
            application = await self._application()
            self.listening = asyncio.create_task(self._listen(application, sock))
        self._say(sock)
        await self.stopping.wait()
        if self.log.format == "console":
            self._tell("stopping: claiming nothing more, waiting for running attempts")
        else:
            lines.SERVICE_STOPPING.log()

    async def _start(self, roles: frozenset[str]) -> bool:
        """Start the engine; False: asked to stop before that.

        A supervised process waits for a store that is away. If it ended instead, its supervisor
        would start it again and again, and each start is work and lines in the log.
        """
        inside, failures = internals(self.scheduler), 0
        while not self.stopping.is_set():
            try:
                await self._require_keys()
                await self.scheduler.start(roles)
            except StoreUnavailable as error:
                if not self.supervised:
                    raise
                failures += 1
                rest = backoff(failures, "start")
                failed = StepFailed(service="start", error=error, failures=failures, rest=rest)
                inside.events.emit(failed)
                await inside.clock.wait(self.stopping, rest)
            else:
                if failures:
                    inside.events.emit(StepRecovered(service="start", failures=failures))
                return True
        return False

    async def _require_keys(self) -> None:
        """Whichever its roles: a worker without the key would let what names a secret die."""
        from tickwell.services.keyring.source import check_keys

        scheduler, inside = self.scheduler, internals(self.scheduler)
        await scheduler.open()
        try:
            await check_keys(inside.store, inside.settings, inside.clock.now())
        except (Exception, asyncio.CancelledError):
            await scheduler.stop()
            raise

    async def _hang_up(self) -> None:
        """Answer what is being asked while the store is still there, and nothing more."""
        self.leaving.set()
        if self.listening is not None:
            await asyncio.wait([self.listening])

    def _on_signal(self, number: signal.Signals) -> None:
        # A supervised process is ended by its supervisor, which hears what it hears.
        if self.repeats.hear() and not self.supervised:
            # Asked again: end now, and the worker processes with it; others recover what ran.
            self.supervisor.kill()
            end_by(number)
        self.stopping.set()

    def _command(self) -> list[str]:
        """The same service as a worker process."""
        command = [sys.executable, "-m", "tickwell", "serve", "--role", "worker"]
        command += ["--no-http", "--supervised", "--host", self.host, "--port", str(self.port)]
        command += ["--allow-local"] if self.local else []
        command += ["--log-format", self.log.format, "--log-level", self.log.level_name]
        command += ["--log-runs"] if self.scheduler.settings.log_runs else []
        return [*command, "--app", self.app] if self.app else command

    async def _watch_parent(self) -> None:
        """The supervisor holds our standard input open; its end means that we are orphaned."""
        reader = asyncio.StreamReader()
        loop = asyncio.get_running_loop()
        await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        await reader.read()
        self.stopping.set()

    def _bind(self) -> socket.socket:
        from tickwell.api.server import require_certificate, require_server

        require_server()
        require_certificate(self.scheduler.settings)
        return _bind(self.host, self.port)

    async def _application(self) -> Any:
        """The API, or only its health where nobody asked for more."""
        if "api" not in self.roles:
            from tickwell.wiring import health_links

            operation_context = internals(self.scheduler).operation_context()
            operation_context.health.process = self.health
            operation_context.health.links = health_links(
                operation_context.store, self.scheduler.settings
            )
            if self.metrics is not None:
                self.metrics.judge = operation_context.health.platform
            return HealthApp(operation_context.health, self._metrics_app(), bound=self.host)
        from tickwell.web.access import first_start
        from tickwell.wiring import make_api

        scheduler, inside = self.scheduler, internals(self.scheduler)
        operation_context = inside.operation_context()
        app = make_api(
            operation_context,
            health=self.health,
            settings=scheduler.settings,
            events=inside.events,
            metrics=self.metrics,
        )
        self.context = app.state.context
        shows = sys.stderr.isatty() and self.log.format == "console"
        self.first = await first_start(app.state.context, operation_context, terminal=shows)
        return app

    def _metrics_app(self) -> MetricsApp | None:
        return None if self.metrics is None else MetricsApp(self.metrics, self.scheduler.settings)

    async def _listen(self, application: Any, sock: socket.socket) -> None:
        from tickwell.api.server import serve

        try:
            await serve(application, sock, self.scheduler.settings, self.leaving)
        finally:
            self.stopping.set()  # a service that nobody can ask is no service

    def health(self) -> ProcessHealth:
        """How the engine in this process is, and its worker processes."""
        health = self.scheduler.health()
        if not self.workers or self.supervisor.alive:
            return health
        return replace(health, ok=False, problems=[*health.problems, "no worker process runs"])

    def _say(self, sock: socket.socket | None) -> None:
        roles = self.roles if sock else self.roles - {"api"}
        store, url = self.scheduler.store_url, self._url(sock) if sock else None
        # Worker processes of ours make us a worker, though nothing is claimed in this process.
        does = ", ".join(sorted({*roles, *(["worker"] if self.workers else [])})) or "nothing"
        notices = [*self._notices(url)]
        if self.log.format == "console":
            self._tell(f"tickwell runs: {does}; store {store}")
            for line in notices:
                self._tell(f"  {line}")
            self._tell("  Ctrl-C drains and stops")
        elif not self.supervised:
            for line in notices:
                is_warning = line.startswith("WARNING")
                lines.SERVICE_NOTICE.log(WARNING if is_warning else None, notice=line.strip())
            lines.SERVICE_STARTED.log(roles=does, store=store, workers=self.workers, url=url)

    def _notices(self, url: str | None) -> Iterator[str]:
        yield str(self.scheduler.promises)
        if self.workers:
            many = "1 worker process" if self.workers == 1 else f"{self.workers} worker processes"
            yield f"{many}, restarted on exit"
        if url is not None:
            if "api" in self.roles:
                yield f"{url}/ is the dashboard, {url}/api/v1 the API"
            yield f"{url}/health reports health"
            if "api" in self.roles:
                yield from access_lines(self.scheduler, self.first, url)
                yield from warnings(self.scheduler.settings, url)
        if self.workers or self.roles & {"api", "worker"}:
            yield from webhook_lines(self.scheduler.settings)

    def _url(self, sock: socket.socket) -> str:
        address, port = sock.getsockname()[:2]
        scheme = "https" if self.scheduler.settings.tls_cert else "http"
        return (
            f"{scheme}://[{address}]:{port}" if ":" in address else f"{scheme}://{address}:{port}"
        )

    def _tell(self, line: str) -> None:
        if not self.supervised:  # the supervisor speaks for all of them
            self.log.plain(line)


def _require_loopback(host: str) -> None:
    """Without authentication every caller may do everything, so only this machine may connect."""
    with contextlib.suppress(ValueError):
        if ip_address(host).is_loopback:
            return
    if host != "localhost":
        raise InvalidSetting(
            f"{host} is reachable from other machines, and authentication is off",
            field="host",
            hint="Turn authentication on, listen on 127.0.0.1, or drop the role api",
        )


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
            hint="Choose others with --host and --port, or pass --no-http",
        ) from error
    return sock
