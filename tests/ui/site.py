"""A real service for browsers: engine, API and pages on a free port, in a thread of its own."""

import asyncio
import contextlib
import socket
import threading
from typing import Any

import httpx
from starlette.applications import Starlette
from starlette.routing import Mount

from tests.servers.private import free_port
from tickwell import GiveUp, Retry, Run, Scheduler, Timeout
from tickwell.api.server import serve
from tickwell.declared.internals import internals
from tickwell.services.keyring.source import find_keys
from tickwell.settings import Settings
from tickwell.wiring import make_api

#: Webhooks may go to this machine; nobody is asked who they are.
OPEN: dict[str, Any] = {
    "auth": False,
    "allow_http": True,
    "allow_private": ("127.0.0.0/8",),
    "allow_ports": ("1-65535",),
    "allow_own": True,
    "requests_without_key": 0,
}


class Site:
    """Serves until it is left, and can be taken down and put up again on the same port."""

    def __init__(
        self, folder, store="memory://", declare=lambda scheduler: None, prefix="", **settings
    ):
        known = OPEN | {
            "secret_key_file": str(folder / "server.key"),
            "drain_timeout": "100ms",
            "sweep": "200ms",
            "celery_tasks": ("default:*",),
        }
        self.settings = Settings(store=store, **(known | settings))
        self.declare = declare
        self.port = free_port()
        self.prefix = prefix

    def __enter__(self):
        self.sock = socket.socket()
        self.sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.sock.bind(("127.0.0.1", self.port))
        self.sock.listen()
        self.url = f"http://127.0.0.1:{self.port}{self.prefix}"
        self.http = httpx.Client(base_url=self.url, timeout=100)
        ready, self.problem = threading.Event(), None
        self.thread = threading.Thread(target=self._run, args=(ready,))
        self.thread.start()
        assert ready.wait(100)
        if self.problem:
            raise self.problem
        return self

    def __exit__(self, *_):
        self.http.close()
        with contextlib.suppress(RuntimeError):
            self.loop.call_soon_threadsafe(self.stopping.set)
        self.thread.join()
        self.sock.close()

    def _run(self, ready):
        try:
            asyncio.run(self._main(ready))
        except Exception as error:  # noqa: BLE001 - raised again where the site is entered
            self.problem = error
            ready.set()

    async def _main(self, ready):
        self.loop, self.stopping = asyncio.get_running_loop(), asyncio.Event()
        self.scheduler = scheduler = Scheduler(self.settings.store, settings=self.settings)
        self.declare(scheduler)
        await scheduler.start()
        operation_context = internals(scheduler).operation_context()
        await find_keys(operation_context.store, self.settings, internals(scheduler).clock.now())
        app = make_api(
            operation_context,
            health=scheduler.health,
            settings=scheduler.settings,
            events=internals(scheduler).events,
        )
        self.context = app.state.context
        served = Starlette(routes=[Mount(self.prefix, app)]) if self.prefix else app
        server = asyncio.create_task(serve(served, self.sock))
        ready.set()
        await self.stopping.wait()
        await self.context.close()
        server.cancel()
        await asyncio.gather(server, return_exceptions=True)
        await scheduler.stop()

    def call(self, coroutine):
        """Run something in the service's own loop, past its pages."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(100)

    def tell(self, *lines):
        """What the handler that talks logs next; None ends it."""
        spoken: Any = self.scheduler
        for line in lines:
            self.loop.call_soon_threadsafe(spoken.lines.put_nowait, line)

    def add(self, name, **fields):
        """A job over the API; on demand, and it succeeds, unless told otherwise."""
        document = {
            "name": name,
            "trigger": {"on_demand": True},
            "target": {"call": {"handler": "works"}},
        }
        answer = self.http.post("/api/v1/jobs", json=document | fields)
        assert answer.status_code == 201, answer.text
        return answer.json()

    def get(self, path):
        """What the API says."""
        answer = self.http.get(f"/api/v1{path}")
        assert answer.status_code == 200, answer.text
        return answer.json()

    def post(self, path, **body):
        """Do something over the API."""
        answer = self.http.post(f"/api/v1{path}", json=body)
        assert answer.status_code < 300, answer.text
        return answer.json()

    def run(self, name, wanted=("succeeded", "dead"), **body):
        """Trigger a job and wait until its execution is in one of the states."""
        id = self.post(f"/jobs/{name}/trigger", **body)["id"]
        return self.until(id, wanted)

    def until(self, id, wanted):
        """Wait, in the service, until an execution is in one of the states."""

        async def reached():
            changed = asyncio.Event()
            hear_no_more = self.scheduler.subscribe(lambda _: changed.set())
            try:
                while True:
                    changed.clear()
                    found = await internals(self.scheduler).executions.get("default", id)
                    if found.state in wanted:
                        return found
                    with contextlib.suppress(TimeoutError):
                        await asyncio.wait_for(changed.wait(), 0.5)
            finally:
                hear_no_more()

        return self.call(reached())


def lively(scheduler):
    """Handlers of every temper. What is held waits until somebody lets it go."""
    scheduler.held = asyncio.Event()

    @scheduler.job(name="works")
    async def works(**payload):
        return {"got": payload}

    @scheduler.job(name="breaks", retry=Retry(max_attempts=1))
    async def breaks(what: str = "the upstream said no"):
        raise ConnectionError(what)

    @scheduler.job(name="gives-up")
    async def gives_up():
        raise GiveUp("the account is closed")

    @scheduler.job(name="stumbles", retry=Retry(max_attempts=3, delay="50ms"))
    async def stumbles():
        raise TimeoutError("no answer within 30 s")

    scheduler.lines = asyncio.Queue()

    @scheduler.job(name="talks", timeout=Timeout(soft="1h", hard="2h"))
    async def talks(run: Run):
        while (line := await scheduler.lines.get()) is not None:
            run.log.info(line)

    @scheduler.job(name="holds")
    async def holds():
        await scheduler.held.wait()
