"""The API over real stores, by the hand of a local admin unless a test says otherwise."""

import random
from dataclasses import dataclass, field
from typing import Any

import httpx
import pytest

from tests.servers.schemas import empty, url
from tickwell.api.app import create_app
from tickwell.clock import StoreClock
from tickwell.domain.event import Events
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.health import ProcessHealth
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.policy import HOUR
from tickwell.domain.step import WAIT, Step
from tickwell.domain.worker import Worker
from tickwell.ports.records import ClaimRequest
from tickwell.services.access.actor import Actor
from tickwell.services.operations import OperationContext
from tickwell.settings import Settings
from tickwell.stores.postgres import PostgresStore
from tickwell.stores.sqlite import SqliteStore
from tickwell.web.access import local_admin
from tickwell.web.context import Context
from tickwell.wiring import make_metrics

SCHEMA = "api"
METRICS_TOKEN = "scrape-me"
HOOK = {"http": {"url": "https://example.com/hook"}}
CALL = {"call": {"handler": "x"}}
WORKER = Worker(
    id="w", host="h", pid=1, queues=("default",), abilities=("call:*/x",), capacity=99, started_at=0
)


class Journal:
    """An auditor that keeps its entries at hand."""

    def __init__(self):
        self.entries = []

    async def record(self, actor, action, subject, before, after, *, project=None):
        self.entries.append((actor.name, action, subject))


@dataclass
class World:
    """An application, its client, and by hand what the loops would do."""

    store: Any
    clock: StoreClock = field(default_factory=StoreClock)
    journal: Journal = field(default_factory=Journal)
    events: Events = field(default_factory=Events)
    health: ProcessHealth = field(default_factory=lambda: ProcessHealth(ok=True))
    claims: int = 0

    def __post_init__(self):
        self.operation_context = OperationContext(
            store=self.store,
            clock=self.clock,
            random=random.Random(1),
            wake=lambda: None,
            auditor=self.journal,
        )
        self.context = Context.over(
            self.operation_context,
            health=lambda: self.health,
            settings=Settings(host="test", metrics_token=METRICS_TOKEN),
            events=self.events,
        )
        self.context.metrics = make_metrics(
            self.store, self.clock, self.context.settings, self.events
        )
        self.context.authenticate = local_admin
        self.app = create_app(self.context)
        transport = httpx.ASGITransport(self.app, raise_app_exceptions=False)
        self.http = httpx.AsyncClient(transport=transport, base_url="http://test/api/v1")

    def as_actor(self, *permissions, project="default", name="test"):
        """Who asks from now on."""
        actor = Actor(name=name, project=project, permissions=frozenset(permissions))

        async def authenticate(request):
            return actor

        self.context.authenticate = authenticate

    async def add(self, name="report", status=201, **fields):
        body = {"name": name, "trigger": {"on_demand": True}, "target": CALL} | fields
        answer = await self.http.post("/jobs", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    async def claim(self):
        """Claim all that is due."""
        now = self.clock.now()
        await self.store.promote(now, 0, 1000)
        await self.store.beat(WORKER, now)
        self.claims += 1
        request = ClaimRequest(
            worker="w",
            claim_id=f"claim-{self.claims}",
            now=now,
            lead=0,
            limit=99,
            queues=("default",),
            abilities=frozenset({"call:*/x"}),
        )
        return await self.store.claim(request)

    async def run(self, kind=OutcomeKind.SUCCEEDED, **outcome):
        """Claim all that is due and end it; answer what was claimed."""
        claims, now = await self.claim(), self.clock.now()
        ended = Outcome(kind=kind, started_at=now, **outcome)
        await self.store.finish([decide(claim, ended, now) for claim in claims], now)
        return claims

    async def ask(self):
        """Claim all that is due, and let it wait for an approval; answer what was claimed."""
        claims, now, name = await self.claim(), self.clock.now(), f"{WAIT}approval"
        asked = {"expires_at": now + HOUR}
        for claim in claims:
            step = Step(
                execution=claim.id, attempt=1, name=name, value=asked, at=now, is_final=False
            )
            assert await self.store.write_steps([step]) == []
        ended = Outcome(kind=OutcomeKind.SNOOZED, started_at=now, delay=HOUR, awaits=(name,))
        await self.store.finish([decide(claim, ended, now) for claim in claims], now)
        return claims

    async def die(self, name="report", error="HTTP 500: no", times=1):
        """A job with so many dead letters."""
        await self.add(name, retry={"max_attempts": 1})
        for _ in range(times):
            await self.http.post(f"/jobs/{name}/trigger")
        return await self.run(OutcomeKind.FAILED, error=error)


@pytest.fixture(params=["sqlite", "postgres"])
async def store(request, tmp_path):
    store: Any
    if request.param == "sqlite":
        store = SqliteStore(tmp_path / "jobs.db")
    else:
        await empty(SCHEMA)
        store = PostgresStore.from_url(url(SCHEMA))
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def world(store):
    world = World(store)
    sent = world.clock.monotonic()
    world.clock.sample(await store.ping(), sent, world.clock.monotonic())
    yield world
    await world.http.aclose()
    await world.context.close()


@pytest.fixture
def http(world):
    return world.http
