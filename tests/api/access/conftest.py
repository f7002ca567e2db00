"""The API with access: two projects, everybody in them, and what they show."""

from dataclasses import dataclass
from typing import Any

import pytest
from argon2 import PasswordHasher

from tickwell.services.access.actor import Actor, Permission, Role
from tickwell.services.access.passwords import Passwords
from tickwell.services.admin.admin import AdminServices
from tickwell.services.keyring import Keyring, ServerKey
from tickwell.services.limits.request_limits import RequestLimits
from tickwell.web.authentication import Authentication

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
OWNER = Actor(name="user:root", project="default", permissions=frozenset(Permission))


@dataclass
class House:
    """Keys of each role in projects a and b, and of a platform admin."""

    world: Any
    admin: AdminServices
    limits: RequestLimits

    @property
    def http(self):
        return self.world.http

    async def key(self, project, role, **options):
        actor = Actor(name="user:root", project=project, permissions=frozenset(Permission))
        made = await self.admin.keys.create(actor, f"{project} {role}", role, **options)
        return {"authorization": f"Bearer {made.token}"}

    async def link(self, name):
        """The token of a link that logs somebody in."""
        user = await self.admin.directory.read(name)
        assert user is not None
        return await self.admin.links.make(user)

    async def login(self, name, **headers):
        """Headers of a session."""
        link = await self.link(name)
        answer = await self.http.post("/session", json={"link": link}, headers=headers)
        assert answer.status_code == 201, answer.text
        cookie = answer.headers["set-cookie"].split(";")[0]
        self.http.cookies.clear()
        return {"cookie": cookie, "x-csrf-token": answer.json()["csrf"]}


@pytest.fixture
async def house(world):
    operation_context = world.operation_context
    admin = AdminServices.over(
        world.store,
        world.clock,
        operation_context.random,
        Keyring([ServerKey(bytes(range(32)))]),
        operation_context.jobs,
        passwords=Passwords(CHEAP),
    )
    limits = RequestLimits(world.clock, without_key=100, with_key=0)
    authentication = Authentication(admin, limits)
    context = world.context
    context.admin = admin
    context.authenticate, context.visit = authentication.authenticate, authentication.visit
    operation_context.auditor, operation_context.limiter = admin.audit, admin.limits
    for name in ("a", "b"):
        await admin.projects.create(OWNER, name, admin=f"{name}-admin")
    await admin.users.create(OWNER, "root", platform=True)
    await admin.members.set(
        Actor(name="x", project="a", permissions=frozenset(Permission)), "root", Role.ADMIN
    )
    return House(world, admin, limits)
