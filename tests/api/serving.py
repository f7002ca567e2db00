"""An API on a real server in a thread of its own, with records to point at."""

import asyncio
import random
import socket
import threading

import httpx

from tickwell.api.app import create_app
from tickwell.api.context import Context, local_admin
from tickwell.api.server import serve
from tickwell.clock import StoreClock
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.health import Health
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.worker import Worker
from tickwell.ports.records import ClaimRequest
from tickwell.services.operations import Tools
from tickwell.stores.memory import MemoryStore

WORKER = Worker(
    id="w", host="h", pid=1, queues=("default",), abilities=("call:x",), slots=99, started_at=0
)


class Serving:
    """Runs until it is left; `ids` is what can be put into paths."""

    def __enter__(self):
        self.sock = socket.socket()
        self.sock.bind(("127.0.0.1", 0))
        self.sock.listen()
        self.url = f"http://127.0.0.1:{self.sock.getsockname()[1]}"
        self.ready = threading.Event()
        self.thread = threading.Thread(target=lambda: asyncio.run(self._main()))
        self.thread.start()
        self.ready.wait(30)
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.stopping.set)
        self.thread.join()
        self.sock.close()

    async def _main(self):
        self.loop, self.stopping = asyncio.get_running_loop(), asyncio.Event()
        self.store, self.clock = MemoryStore(), StoreClock()
        await self.store.open()
        sent = self.clock.monotonic()
        self.clock.sample(await self.store.ping(), sent, self.clock.monotonic())
        tools = Tools(
            store=self.store, clock=self.clock, random=random.Random(1), wake=lambda: None
        )
        context = Context.over(tools, health=lambda: Health(ok=True))
        context.authenticate = local_admin
        self.app = create_app(context)
        server = asyncio.create_task(serve(self.app, self.sock))
        await self.seed()
        self.ready.set()
        await self.stopping.wait()
        await context.close()
        server.cancel()
        await asyncio.gather(server, return_exceptions=True)

    async def seed(self):
        """A job with a dead letter and a run that waits; a worker; a queue; a revival."""
        target = {"call": {"handler": "x"}}
        job = {"name": "report", "trigger": {"every": "1h"}, "target": target}
        transport = httpx.ASGITransport(self.app)
        async with httpx.AsyncClient(transport=transport, base_url=self.url + "/api/v1") as http:
            await http.post("/jobs", json=job | {"retry": {"max_attempts": 1}})
            dead = (await http.post("/jobs/report/trigger")).json()["id"]
            await self._kill()
            live = (await http.post("/jobs/report/trigger", json={"in": "1h"})).json()["id"]
            revival = (
                await http.post("/dead-letters/revive", json={"filter": {"queue": "none"}})
            ).json()["id"]
        self.ids = {"dead": dead, "live": live, "revival": revival, "worker": "w"}

    async def _kill(self):
        now = self.clock.now()
        await self.store.promote(now, 0, 100)
        await self.store.beat(WORKER, now)
        request = ClaimRequest(
            worker="w",
            claim_id="c",
            now=now,
            lead=0,
            limit=9,
            queues=("default",),
            abilities=frozenset({"call:x"}),
        )
        ended = Outcome(kind=OutcomeKind.FAILED, started_at=now, error="no")
        claims = await self.store.claim(request)
        await self.store.finish([decide(claim, ended, now) for claim in claims], now)
