"""An API with real access on a real server in a thread of its own, with records to point at."""

import asyncio
import random
import socket
import threading

import httpx
from argon2 import PasswordHasher

from tests.api.seeds import PROJECT, Seeds
from tests.servers.schemas import empty_now, url
from tickwell.api.app import create_app
from tickwell.api.server import serve
from tickwell.clock import StoreClock
from tickwell.domain.health import ProcessHealth
from tickwell.services.access.actor import Actor, Permission, Role
from tickwell.services.access.issuer import LONGEST_LIFE
from tickwell.services.access.passwords import Passwords
from tickwell.services.admin.admin import AdminServices
from tickwell.services.keyring import Keyring, ServerKey
from tickwell.services.limits.request_limits import RequestLimits
from tickwell.services.operations import OperationContext
from tickwell.settings import Settings
from tickwell.stores.memory import MemoryStore
from tickwell.stores.postgres import PostgresStore
from tickwell.stores.sqlite import SqliteStore
from tickwell.web.access import give_access
from tickwell.web.context import Context
from tickwell.wiring import make_metrics

SCHEMA = "serving"
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
OWNER = Actor(name="user:root", project=PROJECT, permissions=frozenset(Permission))
#: Who has a key of their own; the platform admin has a token.
WHO = ("viewer", "operator", "editor", "admin", "platform")


def kept_in(kind, folder):
    """Makes a store of a kind, empty: in a folder, or on the server."""
    if kind == "sqlite":
        return lambda: SqliteStore(folder / "jobs.db")
    empty_now(SCHEMA)
    return lambda: PostgresStore.from_url(url(SCHEMA))


class Serving:
    """Runs until it is left; `tokens` is what each role shows, `seeds` what paths point at."""

    def __init__(self, make_store=MemoryStore):
        self.make_store = make_store

    def __enter__(self):
        self.sock = socket.socket()
        self.sock.bind(("127.0.0.1", 0))
        self.sock.listen()
        self.url = f"http://127.0.0.1:{self.sock.getsockname()[1]}"
        self.ready, self.problem = threading.Event(), None
        self.thread = threading.Thread(target=self._run)
        self.thread.start()
        assert self.ready.wait(120)
        if self.problem:
            self.sock.close()
            raise self.problem
        return self

    def __exit__(self, *_):
        self.http.close()
        self.loop.call_soon_threadsafe(self.stopping.set)
        self.thread.join()
        self.sock.close()

    def call(self, coroutine):
        """Run something beside the server, in its loop."""
        return asyncio.run_coroutine_threadsafe(coroutine, self.loop).result(60)

    def _run(self):
        try:
            asyncio.run(self._main())
        except Exception as problem:  # noqa: BLE001 # told to whoever waits
            self.problem = problem
            self.ready.set()

    async def _main(self):
        self.loop, self.stopping = asyncio.get_running_loop(), asyncio.Event()
        self.store, self.clock = self.make_store(), StoreClock()
        await self.store.open()
        sent = self.clock.monotonic()
        self.clock.sample(await self.store.ping(), sent, self.clock.monotonic())
        operation_context = OperationContext(
            store=self.store, clock=self.clock, random=random.Random(1), wake=lambda: None
        )
        # With a token, a caller on this machine is not let in without one.
        settings = Settings(metrics_token="scrape-me")
        context = Context.over(
            operation_context, health=lambda: ProcessHealth(ok=True), settings=settings
        )
        context.metrics = make_metrics(self.store, self.clock, context.settings, context.events)
        admin = AdminServices.over(
            self.store,
            self.clock,
            operation_context.random,
            Keyring([ServerKey(bytes(range(32)))]),
            operation_context.jobs,
            passwords=Passwords(CHEAP),
        )
        give_access(
            context, operation_context, admin, RequestLimits(self.clock, without_key=0, with_key=0)
        )
        self.app = create_app(context)
        await self._let_in(admin)
        server = asyncio.create_task(serve(self.app, self.sock))
        self.seeds = Seeds(self)
        self.ready.set()
        await self.stopping.wait()
        await context.close()
        server.cancel()
        await asyncio.gather(server, return_exceptions=True)
        await self.store.close()

    async def _let_in(self, admin):
        await admin.users.create(OWNER, "root", platform=True)
        await admin.projects.create(OWNER, PROJECT, admin="root")
        self.tokens, self.own = {}, {"root", PROJECT}
        for role in Role:
            made = await admin.keys.create(OWNER, role.value, role)
            self.tokens[role.value] = made.token
            self.own.add(made.key.id)
        user = await admin.directory.find("root")
        self.tokens["platform"] = await admin.issuer.issue(user, LONGEST_LIFE)
        headers = {"authorization": f"Bearer {self.tokens['platform']}"}
        self.http = httpx.Client(base_url=f"{self.url}/api/v1", headers=headers, timeout=60)
