"""What operations are made of."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass, field
from typing import Any, Protocol

from tickwell.clock import Clock
from tickwell.domain.job import Job
from tickwell.domain.policy import Retention
from tickwell.ids import Random
from tickwell.ports.executor import Executor
from tickwell.ports.store import Store
from tickwell.services.access.actor import Actor
from tickwell.services.executions.executions import Executions
from tickwell.services.health import HealthReader
from tickwell.services.jobs.jobs import Jobs
from tickwell.services.jobs.skips import Skips
from tickwell.services.projects.projects import built_in
from tickwell.services.slots.slots import Slots


class Auditor(Protocol):
    """Writes down who changed what. Every mutation ends with exactly one entry."""

    async def record(
        self,
        actor: Actor,
        action: str,
        subject: str,
        before: Any,
        after: Any,
        *,
        project: str | None = None,
    ) -> None:
        """Note that the actor did "job.pause" to "job/<id>"; before and after are documents.

        In the log of the actor's project, unless another is named.
        """
        ...


class Limiter(Protocol):
    """Refuses with `LimitReached` what would pass a limit of the actor's project."""

    def room_for(
        self, actor: Actor, jobs: Sequence[Job], replaced: Job | None = None
    ) -> AbstractAsyncContextManager[None]:
        """Held while jobs are added, or one is put in the place of another."""
        ...

    async def check_runs(self, actor: Actor, count: int, payload: Any = None) -> None:
        """Asked before so many runs are requested, each with this payload if it has its own."""
        ...


class Unaudited:
    """Writes nothing down: for a process that keeps no audit log."""

    async def record(
        self,
        actor: Actor,
        action: str,
        subject: str,
        before: Any,
        after: Any,
        *,
        project: str | None = None,
    ) -> None:
        """Nothing to do."""


class Unlimited:
    """Allows everything."""

    def room_for(
        self, actor: Actor, jobs: Sequence[Job], replaced: Job | None = None
    ) -> AbstractAsyncContextManager[None]:
        """Nothing to refuse."""
        return nullcontext()

    async def check_runs(self, actor: Actor, count: int, payload: Any = None) -> None:
        """Nothing to refuse."""


@dataclass(slots=True, kw_only=True)
class OperationContext:
    """The services over one store, and who writes down and who limits."""

    store: Store
    clock: Clock
    random: Random
    #: Called after a write, so that the loops of this process look at once.
    wake: Callable[[], None]
    auditor: Auditor = field(default_factory=Unaudited)
    limiter: Limiter = field(default_factory=Unlimited)
    #: Refuses a payload that the job's target could not be called with, where that is known.
    check: Callable[[Job, Any], None] = lambda _job, _payload: None
    #: How long a project keeps the history of new jobs that do not say.
    retention: Callable[[str], Awaitable[Retention]] = built_in
    #: Sends a webhook that somebody tries out; None: this process sends none.
    sender: Executor | None = None
    #: Where people reach the dashboard, for links in messages; empty: not known.
    public_url: str = ""
    #: Links to servers that others on the network could read or forge: the setting, and how.
    weak_links: Sequence[tuple[str, str]] = ()
    jobs: Jobs = field(init=False)
    executions: Executions = field(init=False)
    slots: Slots = field(init=False)
    skips: Skips = field(init=False)
    #: How the service is; one reader for all that ask in this process.
    health: HealthReader = field(init=False)

    def __post_init__(self) -> None:
        self.jobs = Jobs(self.store, self.clock, self.random, self.wake)
        self.executions = Executions(self.store, self.clock, self.random, self.wake)
        self.jobs.check = self.executions.check = self.check
        self.slots = self.executions.slots
        self.skips = Skips(self.store, self.jobs)
        self.health = HealthReader(self.store, self.clock)
