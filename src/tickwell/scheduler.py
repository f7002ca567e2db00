"""The scheduler: what a library user holds."""

from __future__ import annotations

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from random import SystemRandom
from typing import TYPE_CHECKING, Any, ParamSpec, Self, TypeVar

from tickwell.clock import StoreClock
from tickwell.declared import JobFunction, check_policies, with_hash
from tickwell.domain.event import Events, Listener
from tickwell.domain.execution import Execution
from tickwell.domain.health import Health
from tickwell.domain.job import Entry, Job
from tickwell.domain.target import Call, Target
from tickwell.domain.trigger import OnDemand, Trigger
from tickwell.errors import (
    InvalidSetting,
    InvalidTrigger,
    JobExists,
    NotRunning,
    VersionConflict,
)
from tickwell.executors.handlers import Handler, Handlers
from tickwell.observe.logs import log_event
from tickwell.services.executions import Executions
from tickwell.services.jobs import Jobs
from tickwell.services.payload import checked
from tickwell.services.slots import Slots
from tickwell.services.transactions import Transactions
from tickwell.settings import Settings

if TYPE_CHECKING:
    from tickwell.engine.engine import Engine
    from tickwell.engine.supervisor import Supervisor

P = ParamSpec("P")
R = TypeVar("R")

BOTH = frozenset({"planner", "worker"})


class Scheduler:
    """Jobs, and the engine that runs them, on one store.

    Several processes may each hold one on the same store: every fire time is still answered once.
    """

    def __init__(
        self,
        store: str = "sqlite:///tickwell.db",
        *,
        app: str = "default",
        project: str = "default",
        settings: Settings | None = None,
    ) -> None:
        self.settings = settings or Settings()
        self.app = app
        self.project = project
        self.events = Events()
        self.events.subscribe(log_event)
        self.handlers = Handlers()
        self.clock = StoreClock()
        self._declared: list[Job] = []
        self._engine: Engine | None = None
        self._opened = False
        self._changing = asyncio.Lock()
        self._stopping: asyncio.Task[None] | None = None
        self.move_to(store)

    def move_to(self, store: str) -> None:
        """Use another store; only before anything was read or written."""
        from tickwell.wiring import make_store

        if self._opened:
            raise NotRunning("the scheduler has opened its store; choose the store before")
        self.settings = replace(self.settings, store=store)
        self._store = make_store(store)
        random = SystemRandom()
        self.jobs = Jobs(self._store, self.clock, random, self._wake)
        self.executions = Executions(self._store, self.clock, random, self._wake)
        self.slots = Slots(self._store, self.clock)
        self.transactions = Transactions(self._store, self.project, random)

    @property
    def store_url(self) -> str:
        """Where data lives."""
        return self._store.name

    def job(
        self, trigger: Trigger | None = None, *, name: str | None = None, **policies: Any
    ) -> Callable[[Callable[P, R]], JobFunction[P, R]]:
        """Declare a function as a job: by a trigger, or without one on demand.

        Policies are the fields of a job: retry, overlap, misfire, timeout, queue, payload, …
        """
        if trigger is not None and not isinstance(trigger, Trigger):
            raise InvalidTrigger(
                f"{trigger!r} is not a trigger",
                field="trigger",
                hint='Write @scheduler.job(Cron("0 9 * * *")), or @scheduler.job() on demand',
            )

        def decorate(function: Callable[P, R]) -> JobFunction[P, R]:
            chosen = getattr(function, "__name__", "") if name is None else name
            job = self._definition(chosen, trigger, Call(chosen), app=self.app, **policies)
            if trigger is not None:  # a fire that cannot be called is refused here
                Handler(chosen, function).arguments(job.payload)
            handler = self.handlers.add(chosen, function)
            self._declared.append(with_hash(job))
            return JobFunction(function, handler, self.trigger)

        return decorate

    async def add(
        self, name: str, trigger: Trigger | None, target: Target, **policies: Any
    ) -> Entry:
        """Add a job that no code declares; without a trigger it runs on demand."""
        await self.open()
        return await self.jobs.add(self._definition(name, trigger, target, **policies))

    async def trigger(self, name: str, payload: Any = None, *, key: str | None = None) -> Execution:
        """Run a job now. The same key again answers with the same execution."""
        await self.open()
        handler = self.handlers.find(name)
        if handler is not None and payload is not None:
            handler.arguments(payload)
        return await self.executions.trigger(self.project, name, payload=payload, key=key)

    def _definition(
        self, name: str, trigger: Trigger | None, target: Target, **policies: Any
    ) -> Job:
        check_policies(policies)
        policies["payload"] = checked(policies.get("payload"))
        return Job(
            id="",
            name=name,
            trigger=OnDemand() if trigger is None else trigger,
            target=target,
            project=self.project,
            **policies,
        )

    async def start(self, roles: Collection[str] = BOTH) -> None:
        """Open the store, bring declared jobs up to date, and set the engine going."""
        unknown = frozenset(roles) - BOTH
        if unknown:
            raise InvalidSetting(
                f"{', '.join(sorted(unknown))} is no role",
                field="roles",
                hint="Use planner, worker or both",
            )
        await self.open()
        async with self._changing:
            if self._engine is None:
                await self._start(frozenset(roles))

    async def _start(self, roles: frozenset[str]) -> None:
        from tickwell.wiring import make_engine

        await self._sync()
        engine = make_engine(
            self._store,
            self.handlers,
            self.clock,
            self.settings,
            events=self.events,
            roles=roles,
        )
        await engine.start()
        self._engine = engine

    async def stop(self) -> None:
        """Claim nothing more, let running attempts end, give the rest back, close the store.

        It goes on when whoever asked for it is cancelled: that may be a handler that is drained.
        """
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop())
        await asyncio.shield(self._stopping)

    async def _stop(self) -> None:
        try:
            async with self._changing:
                if self._engine is not None:
                    await self._engine.stop()
                    self._engine = None
                if self._opened:
                    self._opened = False
                    await self._store.close()
        finally:
            self._stopping = None

    async def serve(self) -> None:
        """Run until SIGTERM or SIGINT, inside a loop that exists."""
        stopping = asyncio.Event()
        loop = asyncio.get_running_loop()

        def stop(number: signal.Signals) -> None:
            if stopping.is_set():  # asked twice: end now, others recover what ran
                signal.signal(number, signal.SIG_DFL)
                os.kill(os.getpid(), number)
            stopping.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, stop, number)
        try:
            async with self:
                await stopping.wait()
        finally:
            for number in (signal.SIGTERM, signal.SIGINT):
                loop.remove_signal_handler(number)

    def run(self) -> None:
        """Run until SIGTERM or SIGINT, blocking."""
        from tickwell.wiring import loop_factory

        with asyncio.Runner(loop_factory=loop_factory()) as runner:
            runner.run(self.serve())

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @asynccontextmanager
    async def lifespan(self, _app: object = None) -> AsyncIterator[None]:
        """For web frameworks: `FastAPI(lifespan=scheduler.lifespan)`, in every web worker."""
        async with self:
            yield

    @property
    def is_running(self) -> bool:
        """Whether the engine runs in this process."""
        return self._engine is not None and self._engine.running

    def health(self) -> Health:
        """How the engine in this process is."""
        if self._engine is None:
            return Health(ok=False, problems=["the engine is not running"])
        return self._engine.health()

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Hear every event; call what is returned to hear no more."""
        return self.events.subscribe(listener)

    def supervise(
        self, command: Sequence[str], count: int, environment: Mapping[str, str]
    ) -> Supervisor:
        """Worker processes of the same scheduler, kept running beside this one."""
        from tickwell.engine.supervisor import Supervisor

        return Supervisor(command, count, self.clock, self.events, environment=environment)

    def _wake(self) -> None:
        if self._engine is not None:
            self._engine.wake()
            self._engine.hear()

    async def open(self) -> None:
        """Open the store without running anything: to add, change and read jobs."""
        if not self._opened:
            async with self._changing:
                await self._open()

    async def _open(self) -> None:
        if not self._opened:  # by another task, while this one waited
            await self._store.open()
            self._opened = True
            sent = self.clock.monotonic()
            self.clock.sample(await self._store.ping(), sent, self.clock.monotonic())

    async def _sync(self) -> None:
        """Add declared jobs that are missing; update those whose declaration changed."""
        for job in self._declared:
            await self._sync_one(job)

    async def _sync_one(self, declared: Job) -> None:
        while True:
            known = await self._find(declared.name)
            try:
                if known is None:
                    await self.jobs.add(declared)
                elif known.job.declared != declared.declared:
                    version = known.job.version
                    await self.jobs.edit(self.project, known.job.id, declared, version)
            except (JobExists, VersionConflict):
                continue  # another process of the same app was faster: look again
            return

    async def _find(self, name: str) -> Entry | None:
        found = await self._store.get_jobs(self.project, [name])
        return found[0] if found else None
