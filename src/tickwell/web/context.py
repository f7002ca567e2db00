"""What the routes of one application work with."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any

from fastapi import Request

from tickwell.clock import Clock
from tickwell.domain.event import Events
from tickwell.domain.health import ProcessHealth
from tickwell.errors import NotRunning
from tickwell.observe.metrics.metrics import Metrics
from tickwell.services.access.actor import Actor
from tickwell.services.admin.admin import AdminServices
from tickwell.services.cursor_seal import CursorSeal
from tickwell.services.event_feed import Feed
from tickwell.services.health import HealthReader
from tickwell.services.monitors.check_ins import CheckIns
from tickwell.services.monitors.pings import Pings
from tickwell.services.operations import OperationContext, Operations
from tickwell.settings import Settings
from tickwell.web.idempotency import Idempotency

#: Makes the actor of a request, or raises `Unauthenticated`; a limit on requests is its work too:
#: it raises `LimitReached`, and leaves a `RateLimit` in `request.state.rate_limit` for the answer.
#: `request.state.request_id` and `request.client` are there already.
Authenticate = Callable[[Request], Awaitable[Actor]]


async def nobody(_request: Request) -> Actor:
    """Lets nobody in: an application that was given no access is not open, but shut."""
    raise NotRunning("this application is still starting; try again in a moment")


#: Describes the operations of the API.
Describe = Callable[[], dict[str, Any]]
#: `Authenticate` for a page of the dashboard, by its session; also the token that its changes must
#: carry, checked here for every method but GET and HEAD.
Visit = Callable[[Request], Awaitable[tuple[Actor, str]]]


async def no_visit(request: Request) -> tuple[Actor, str]:
    """Lets nobody in either."""
    return await nobody(request), ""


@dataclass(slots=True, kw_only=True)
class Context:
    """Made once, by the composition root; a route finds it by `context_of(request)`."""

    operations: Operations
    health: HealthReader
    clock: Clock
    #: Answers to requests that came with an `Idempotency-Key`.
    idempotency: Idempotency
    #: For people; no credentials in it.
    store_name: str
    #: What happens, for those who listen.
    feed: Feed
    #: What outside jobs report.
    pings: Pings
    #: The OpenAPI document, for people to read.
    describe: Describe = dict
    authenticate: Authenticate = nobody
    visit: Visit = no_visit
    #: Seals the page cursors of lists; by the server keys as soon as there are any.
    cursors: CursorSeal = field(default_factory=CursorSeal.of_process)
    settings: Settings = field(default_factory=Settings)
    #: Access, projects, secrets, limits and the audit log, where this process has them.
    admin: AdminServices | None = None
    #: What `/metrics` shows; None: nothing is counted.
    metrics: Metrics | None = None
    #: What the engine of this process tells.
    events: Events = field(default_factory=Events)

    @classmethod
    def over(
        cls,
        operation_context: OperationContext,
        *,
        health: Callable[[], ProcessHealth],
        settings: Settings | None = None,
        events: Events | None = None,
    ) -> Context:
        """All that follows from the operation context; how actors are made is set afterwards."""
        heard = events or Events()
        operation_context.health.process = health
        store, clock = operation_context.store, operation_context.clock
        operations = Operations.over(operation_context)
        check_ins = CheckIns(
            store, clock, operation_context.random, wake=operation_context.wake, events=heard
        )
        return cls(
            operations=operations,
            health=operation_context.health,
            clock=clock,
            idempotency=Idempotency(store, clock),
            store_name=store.name,
            feed=Feed(store, clock, heard),
            pings=Pings(store, clock, check_ins, operations.monitors),
            settings=settings or Settings(),
            events=heard,
        )

    async def close(self) -> None:
        """End streams and what works in the background."""
        self.feed.close()
        if self.metrics is not None:
            await self.metrics.close()
        await self.health.close()
        await self.operations.dead_letters.close()
        await self.operations.trials.close()


@dataclass(frozen=True, slots=True, kw_only=True)
class RateLimit:
    """How many requests are left, for the `RateLimit` headers."""

    #: The policy's name, for people.
    name: str
    limit: int
    #: Seconds that the limit counts over.
    window: int
    remaining: int
    #: Seconds until more are to be had.
    reset: int


def administration_of(request: Request) -> AdminServices:
    """All that is administered, or the word that it is not administered here."""
    return administration_in(context_of(request))


def administration_in(context: Context) -> AdminServices:
    """The same, from the context."""
    found = context.admin
    if found is None:
        raise NotRunning(
            "this process has no user management; it was started without authentication"
        )
    return found


def context_of(request: Request) -> Context:
    """The context of the application that handles the request."""
    context: Context = request.app.state.context
    return context
