"""The scheduler: what a library user holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, cast

from tickwell.clock import Clock, StoreClock
from tickwell.declared.blocking import Blocking
from tickwell.declared.function import Declare, JobFunction
from tickwell.declared.greeting import greet
from tickwell.declared.hooks import Hook, Hooks, What
from tickwell.declared.leaving import Leaving
from tickwell.declared.lifecycle import Lifecycle
from tickwell.declared.named import Named
from tickwell.declared.owner_asgi import InOwner
from tickwell.declared.owner_loop import Marshalled, OwnerLoop, in_owner
from tickwell.declared.policies import Policies
from tickwell.declared.running import BOTH, Running
from tickwell.declared.syncing import Synced, Syncing, gone_from
from tickwell.domain.event import Event, Events, JobOver, JobPaused, Listener, StepFailed, Triggered
from tickwell.domain.execution import NewExecution
from tickwell.domain.job import Job
from tickwell.domain.promises import Promises
from tickwell.domain.target import Call, Target
from tickwell.domain.trigger import Trigger
from tickwell.domain.worker import API
from tickwell.errors import InvalidSetting, NotRunning, TickwellError
from tickwell.executors.handlers import Handler, Handlers
from tickwell.ids import ENTROPY
from tickwell.observe.logs import EventLog
from tickwell.ports.executor import Executor
from tickwell.services.executions.executions import Executions
from tickwell.services.executions.transactions import Transactions
from tickwell.services.jobs.admission import admission
from tickwell.services.jobs.declarations import stamped
from tickwell.services.jobs.jobs import Jobs
from tickwell.services.slots.slots import Slots
from tickwell.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from tickwell.engine.engine import Engine
    from tickwell.engine.hints.hint_worker import HintInbox
    from tickwell.engine.supervisor import Supervisor
    from tickwell.observe.metrics.metrics import Metrics
    from tickwell.services.operations import Tools
    from tickwell.wiring import NotifyingStore

H = TypeVar("H", bound=Hook)
V = TypeVar("V")


class Scheduler(Named, Running):
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
        self._event_log = EventLog()
        self.events.subscribe(self._event_log.hear)
        self.handlers = Handlers(project)
        #: Set before the start in the worker of another task queue; see `HintInbox`.
        self.inbox: HintInbox | None = None
        self._hooks = Hooks(self.events)
        #: What carries out targets instead of all that this installation can.
        self.executor: Executor | None = None
        self._declared: list[Job] = []
        #: Declared while the engine ran, and not in the store yet.
        self._late: list[Job] = []
        self._owner = OwnerLoop(self._make_loop, self._stop_here)
        #: The same calls for code without an event loop.
        self.blocking = Blocking(self, self._owner)
        self.live_on(self._make_store(store), StoreClock(), replace(self.settings, store=store))

    def move_to(self, store: str) -> None:
        """Use another store; only before anything was read or written, or after a fork."""
        if self._life.opened:
            raise NotRunning("the scheduler has opened its store; choose the store before")
        self.live_on(self._make_store(store), StoreClock(), replace(self.settings, store=store))

    def live_on(
        self, store: NotifyingStore, clock: Clock, settings: Settings, *, claims_loop: bool = False
    ) -> None:
        """Live on this store and by this clock, as tests want it; before anything is opened.

        With `claims_loop` any call lets its event loop own the scheduler, not only a start: time
        that a test moves belongs to the loop of the test.
        """
        self._owner.always_claims = claims_loop
        self.settings, self.clock, self._store = settings, clock, store
        self._event_log.logs_runs = settings.log_runs
        random = ENTROPY
        self.jobs = self._marshalled(Jobs(store, clock, random, self._wake))
        self.executions = self._marshalled(Executions(store, clock, random, self._wake))
        self.jobs.check = self.executions.check = self._check_payload
        self.executions.on_added = self._on_added
        self.jobs.admit = admission(clock, settings)
        self.slots = self._marshalled(Slots(store, clock))
        self.transactions = Transactions(store, self.project, random, self.executions.fairness)
        self.transactions.check = self._check_payload
        self._life = Lifecycle(store, clock, self._hooks, self._owner)
        self._life.on_fork = self._on_fork

    def _marshalled(self, service: V) -> V:
        return cast("V", Marshalled(service, self._owner, self.open))

    @property
    def promises(self) -> Promises:
        """What the store lets us promise; known once it is open."""
        return self._store.promises

    @property
    def store_url(self) -> str:
        """Where data lives."""
        return self._store.name

    def job(
        self,
        trigger: Trigger | None = None,
        *,
        name: str | None = None,
        isolation: Literal["none", "process"] = "none",
        shared: bool = False,
        **policies: Unpack[Policies],
    ) -> Declare:
        """Declare a function as a job: by a trigger, or without one on demand.

        Policies are the fields of a job: retry, overlap, misfire, timeout, queue, payload, …
        With `isolation="process"` it runs in a process of its own, which can be killed.
        With `shared=True` jobs of every project may call the function, not only this one's.
        """
        # Refused before the function is seen: a function in place of the trigger, above all.
        self._definition("job" if name is None else name, trigger, Call("job"), dict(policies))

        def decorate(function: Callable[..., Any]) -> JobFunction[Any, Any, Any]:
            chosen = getattr(function, "__name__", "") if name is None else name
            job = self._definition(chosen, trigger, Call(chosen), dict(policies))
            handler = Handler(chosen, self._tended(function), isolation, shared=shared)
            if trigger is not None:  # a fire that cannot be called is refused here
                handler.arguments(job.payload)
            self.handlers.register(handler)
            self._declare(stamped(replace(job, app=self.app)))
            return JobFunction(function, handler, self, self.blocking)

        return cast("Declare", decorate)

    def declare(
        self, name: str, trigger: Trigger | None, target: Target, **policies: Unpack[Policies]
    ) -> None:
        """Declare a job whose target is no function of this program: a webhook, a Celery task.

        Like one by `@scheduler.job`, it is paused once the code declares it no more.
        """
        job = self._definition(name, trigger, target, dict(policies))
        self._declare(stamped(replace(job, app=self.app)))

    def _tended(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """What a handler calls: the function, inside what a framework does around every call."""
        return function

    def _declare(self, job: Job) -> None:
        self._declared.append(job)
        if self._life.engine is not None and self._life.loop is not None:
            self._late.append(job)
            self._life.loop.call_soon_threadsafe(self._life.spawn, self._welcome)

    async def _welcome(self) -> None:
        """Take up what was declared while the engine runs."""
        if self._life.engine is not None:
            self._life.engine.learn()
        try:
            await self.open()
        except TickwellError as error:
            self.events.emit(StepFailed(service="sync", error=error, failures=1, rest=0.0))

    async def open(self) -> None:
        """Open the store without running anything: to add, change and read jobs."""
        await self._owner.run(self._open, claims=True)

    async def _open(self) -> None:
        await self._life.open()
        while self._late:
            synced = Synced()
            await self._syncing().sync_one(self._late.pop(0), synced)
            self._told(synced)

    @in_owner
    async def sync(self, *, prune: bool = False) -> Synced:
        """Bring the jobs of this app in the store up to date with the code, as a start does.

        A job that is gone from the code is paused; with `prune` it is deleted.
        """
        await self._life.open()
        self._late.clear()
        synced = await self._syncing().sync(self._declared, prune=prune)
        return self._told(synced)

    async def _take_away(self) -> Synced:
        synced = Synced()
        await self._syncing().take_away(self._declared, synced, prune=False)
        return self._told(synced)

    def _told(self, synced: Synced) -> Synced:
        for name in synced.paused:
            self.events.emit(JobPaused(job=name, why=gone_from(self.app)))
        for name in synced.over:
            self.events.emit(JobOver(job=name))
        return synced

    async def _add_declared(self, name: str) -> bool:
        found = [job for job in self._declared if job.name == name]
        for job in found:
            await self._syncing().sync_one(job, Synced())
        return bool(found)  # added here, or by another call at the same moment

    def _syncing(self) -> Syncing:
        return Syncing(self.jobs, self._store, self.app, self.project)

    async def start(self, roles: Collection[str] = BOTH) -> None:
        """Open the store, bring declared jobs up to date, and set the engine going."""
        unknown = frozenset(roles) - BOTH - {API}
        if unknown:
            raise InvalidSetting(
                f"{', '.join(sorted(unknown))} is no role",
                field="roles",
                hint="Use planner, worker or both; api announces that this process serves the API",
            )
        if self._life.engine is None:
            await self._owner.claim_from_background()
        make = partial(self._make_engine, frozenset(roles))
        await self._owner.run(lambda: self._life.start(make), claims=True)

    async def stop(self) -> None:
        """Claim nothing more, let running attempts end, give the rest back, close the store."""
        await self._owner.stop()

    async def _stop_here(self) -> None:
        await self._life.stop()

    def on(self, what: What | type[Event]) -> Callable[[H], H]:
        """Call the function at every "start", "stop", "idle", "error", or event of a class."""

        def decorate(hook: H) -> H:
            self._hooks.add(what, hook)
            return hook

        return decorate

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Hear every event; call what is returned to hear no more."""
        return self.events.subscribe(listener)

    def supervise(
        self, command: Sequence[str], count: int, environment: Mapping[str, str]
    ) -> Supervisor:
        """Worker processes of the same scheduler, kept running beside this one."""
        from tickwell.engine.supervisor import Supervisor

        return Supervisor(command, count, self.clock, self.events, environment=environment)

    def tools(self) -> Tools:
        """What operations on this scheduler's store are made of, for the faces of a service."""
        from tickwell.services.operations import Tools

        tools = Tools(
            store=self._store,
            clock=self.clock,
            random=ENTROPY,
            wake=self._wake,
            check=self._check_payload,
        )
        tools.executions.on_added = self._on_added
        return tools

    def metrics(self) -> Metrics:
        """What this process counts, from the first call on, and figures of its store.

        `await metrics.text(accept)` is what Prometheus scrapes; `metrics.collector()` is for a
        registry of your own. Both need `pip install 'tickwell[metrics]'`.
        """
        return self._marshalled(self._metrics)

    @cached_property
    def _metrics(self) -> Metrics:
        from tickwell.wiring import make_metrics

        made = make_metrics(self._store, self.clock, self.settings, self.events)
        made.process, made.planner_step = self.health, self._planner_step
        return made

    def _planner_step(self) -> int | None:
        engine = self._life.engine
        return None if engine is None else engine.stepped_at("planner")

    def asgi(self) -> FastAPI:
        """API and dashboard to mount beside your own: `app.mount("/scheduler", scheduler.asgi())`.

        It starts as ever, by `lifespan`; its very first start makes a user, and logs their way in.
        """
        return self._app

    @cached_property
    def _app(self) -> FastAPI:
        from tickwell.wiring import make_api

        tools = self.tools()
        app = make_api(
            tools,
            health=self.health,
            settings=self.settings,
            events=self.events,
            metrics=self._metrics if self.settings.metrics else None,
        )
        app.add_middleware(InOwner, owner=self._owner)
        from tickwell.web.access import first_mounted

        async def welcome() -> None:
            if tools.store is self._store:  # a test lets the scheduler live elsewhere meanwhile
                await first_mounted(app.state.context, tools, self.settings.store)

        self._life.prepare = welcome
        if self._life.engine is not None:
            self._life.engine.announce(API)
        if self._life.engine is not None and self._life.loop is not None:
            self._life.loop.call_soon_threadsafe(self._life.spawn, welcome)
        return app

    def _on_added(self, executions: Sequence[NewExecution]) -> None:
        if executions and self.events.wanted:
            self.events.emit(Triggered(executions=executions))

    def _wake(self) -> None:
        if self._life.engine is not None:
            self._life.engine.wake()
            self._life.engine.hear()

    def _check_payload(self, job: Job, payload: Any) -> None:
        """What a handler that is known here cannot be called with is refused at once."""
        if isinstance(job.target, Call):
            handler = self.handlers.find(job.target.handler, job.project)
            if handler is not None:
                handler.arguments(payload)

    async def _make_engine(self, roles: frozenset[str]) -> Engine:
        from tickwell.wiring import make_engine

        synced = await self.sync()
        return make_engine(
            self._store,
            self.handlers,
            self.clock,
            self.settings,
            events=self.events,
            roles=roles | {API} if "_app" in self.__dict__ else roles,
            executor=self.executor,
            extra=[Leaving(self._take_away)] if synced.kept else [],
            inbox=self.inbox,
        )

    def _make_store(self, url: str) -> NotifyingStore:
        from tickwell.wiring import make_notifying_store

        return make_notifying_store(url, self.settings)

    async def _greet(self) -> None:
        await greet(self._store, self.store_url, self.project, self.clock.now())

    def _make_loop(self) -> asyncio.AbstractEventLoop:
        from tickwell.wiring import loop_factory

        return loop_factory()()

    def _on_fork(self) -> None:
        self._owner.forget()
        for service in (self.jobs, self.executions, self.slots, self.transactions):
            service.store = self._life.store
