"""All that is administered, over each kind of store, with a clock that tests move."""

import asyncio
import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from argon2 import PasswordHasher

from tests.servers import schemas
from tickwell.ports.store import Store
from tickwell.services.access.actor import Actor, Permission, Role, permissions_of
from tickwell.services.access.passwords import Passwords
from tickwell.services.admin.admin import AdminServices
from tickwell.services.jobs.jobs import Jobs
from tickwell.services.keyring import Keyring, ServerKey
from tickwell.stores.memory import MemoryStore
from tickwell.stores.postgres import PostgresStore
from tickwell.stores.sqlite import SqliteStore

#: 15 June 2026, 10:00 UTC; a Monday.
TEN = 1_781_517_600_000
KEY = ServerKey(bytes(range(32)))
#: As weak as can be: what is tested is not how long it takes.
CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


@dataclass
class Clock:
    instant: int = TEN

    def now(self):
        return self.instant


class Counting:
    """A store that counts the calls made to it."""

    def __init__(self, store):
        self.store = store
        self.calls = 0

    def __getattr__(self, name):
        self.calls += 1
        return getattr(self.store, name)


@dataclass
class Office:
    store: Any
    clock: Clock = field(default_factory=Clock)
    keyring: Keyring = field(default_factory=lambda: Keyring([KEY]))

    def open(self, **options):
        """What another process would have."""
        source = random.Random()
        jobs = Jobs(self.store, self.clock, source, lambda: None)
        return AdminServices.over(
            self.store,
            self.clock,
            source,
            options.pop("keyring", self.keyring),
            jobs,
            passwords=Passwords(CHEAP),
            **options,
        )

    def actor(self, role=Role.ADMIN, project="acme", name="user:ada"):
        return Actor(name=name, project=project, permissions=permissions_of(role))

    def owner(self):
        return Actor(name="user:root", project="default", permissions=frozenset(Permission))


@pytest.fixture(params=["memory", "sqlite", "postgres"])
async def office(request, tmp_path):
    store: Store
    if request.param == "memory":
        store = MemoryStore()
    elif request.param == "sqlite":
        store = SqliteStore(tmp_path / "jobs.db")
    else:
        await schemas.empty()
        store = PostgresStore.from_url(schemas.url())
    await store.open()
    yield Office(Counting(store))
    await store.close()


@pytest.fixture
def service(office):
    return office.open()


async def together(*calls):
    """All at once; what each answered or raised."""
    return await asyncio.gather(*calls, return_exceptions=True)
