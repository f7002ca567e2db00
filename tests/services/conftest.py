"""Services over each store that needs no server, with a clock that tests move."""

import random
from dataclasses import dataclass, field, replace

import pytest

from tickwell.domain.execution import OutcomeKind
from tickwell.domain.job import Cursor, Entry, Job
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.planning import plan
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand
from tickwell.domain.worker import Worker
from tickwell.ids import new_id
from tickwell.ports.records import ClaimRequest
from tickwell.ports.store import Store
from tickwell.services.executions.executions import Executions
from tickwell.services.jobs.jobs import Jobs
from tickwell.services.slots.slots import Slots
from tickwell.stores.memory import MemoryStore
from tickwell.stores.sqlite import SqliteStore

#: 15 June 2026, 10:00 UTC; a Monday.
TEN = 1_781_517_600_000
WORKER = Worker(
    id="w", host="h", pid=1, queues=("default",), abilities=("call:*/x",), capacity=99, started_at=0
)


@dataclass
class Clock:
    instant: int = TEN

    def now(self):
        return self.instant


@dataclass
class World:
    """The services, and by hand what the loops would do."""

    store: Store
    clock: Clock = field(default_factory=Clock)
    woken: int = 0

    def __post_init__(self):
        source = random.Random(1)
        self.jobs = Jobs(self.store, self.clock, source, self.wake)
        self.executions = Executions(self.store, self.clock, source, self.wake)
        self.slots = Slots(self.store, self.clock)

    def wake(self):
        self.woken += 1

    def job(self, trigger, name="report", **fields):
        return Job(id="", name=name, trigger=trigger, **({"target": Call("x")} | fields))

    async def added_before(self, name, **fields):
        """A job such as is refused by now, as an earlier version took it."""
        id = new_id(self.clock.instant, random.Random(7))
        job = replace(self.job(OnDemand(), name, **fields), id=id)
        return (await self.store.add_jobs([Entry(job, Cursor())], self.clock.instant))[0].job

    async def at(self, instant, horizon=0):
        """Let time pass, then plan as a planner does."""
        self.clock.instant = instant
        for _ in range(100):
            await self.store.fire_due(
                instant, horizon, 100, lambda job, cursor: plan(job, cursor, instant, horizon)
            )
            await self.store.promote(instant, horizon, 1000)
            due = (await self.store.next_wakeup(instant)).fire
            if due is None or due > instant + horizon:
                return
        raise AssertionError("a job is never at rest")

    async def run(self, kind=OutcomeKind.SUCCEEDED, **outcome):
        """Claim all that is due and end it; answer what was claimed."""
        now, claims = self.clock.now(), await self.claim()
        ended = Outcome(kind=kind, started_at=now, **outcome)
        await self.store.finish([decide(claim, ended, now) for claim in claims], now)
        return claims

    async def claim(self):
        """Claim all that is due."""
        now = self.clock.now()
        await self.store.beat(WORKER, now)
        request = ClaimRequest(
            worker="w",
            claim_id=f"{now}-{self.woken}",
            now=now,
            lead=0,
            limit=99,
            queues=("default",),
            abilities=frozenset({"call:*/x"}),
        )
        return await self.store.claim(request)


@pytest.fixture(params=["memory", "sqlite"])
async def store(request, tmp_path):
    store = MemoryStore() if request.param == "memory" else SqliteStore(tmp_path / "jobs.db")
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def world(store):
    return World(store)
