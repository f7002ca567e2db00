"""The scheduler: what a library user holds."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from dataclasses import replace
from difflib import get_close_matches
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, Literal, TypeVar, Unpack, cast

from tickwell.declared.banner import print_banner
from tickwell.declared.blocking import Blocking
from tickwell.declared.function import Declare, JobFunction
from tickwell.declared.hooks import Hook, What, check_event
from tickwell.declared.internals import Internals
from tickwell.declared.job_api import JobApi
from tickwell.declared.lifecycle import BOTH, Lifecycle
from tickwell.declared.orphaned_jobs import OrphanedJobs
from tickwell.declared.owner_asgi import InOwner
from tickwell.declared.owner_loop import OwnerLoop, in_owner
from tickwell.declared.policies import Policies, check_keys
from tickwell.declared.running import Running
from tickwell.declared.start_runs import AtStart, StartRuns
from tickwell.declared.syncing import Synced, Syncing, gone_from
from tickwell.domain.event import JobOver, JobPaused, StepFailed
from tickwell.domain.job import Job
from tickwell.domain.promises import Promises
from tickwell.domain.target import Call, Target
from tickwell.domain.trigger import OnDemand, Trigger
from tickwell.domain.worker import API
from tickwell.errors import InvalidSetting, NotFound, TickwellError
from tickwell.events import Event, Listener
from tickwell.executors.around.layers import Middleware
from tickwell.executors.handlers import Handler
from tickwell.services.executions.transactions import Transactions
from tickwell.services.jobs.fire_times import stamped
from tickwell.settings import Settings

if TYPE_CHECKING:
    from fastapi import FastAPI

    from tickwell.engine.engine import Engine
    from tickwell.observe.metrics.metrics import Metrics

H = TypeVar("H", bound=Hook)
M = TypeVar("M", bound=Middleware)
V = TypeVar("V")


class Scheduler(JobApi, Running):
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
        defaults: Policies | None = None,
    ) -> None:
        #: The application whose code declares jobs.
        self.app = app
        #: The tenant that owns the jobs and all their records.
        self.project = project
        self._defaults = Policies(**defaults) if defaults else Policies()
        self._declared: list[Job] = []
        self._start_runs = StartRuns(project)
        #: Declared while the engine ran, and not in the store yet.
        self._late: list[Job] = []
        self._owner = OwnerLoop(self._make_loop, self._stop_here)
        #: The same calls for code without an event loop.
        self.blocking = Blocking(self, self._owner)
        chosen = replace(settings or Settings(), store=store)
        self._inside = Internals(project, chosen, self._owner, self.open)
        self._definition("job", None, Call("job"), {})  # refuses defaults that no job may have

    @property
    def settings(self) -> Settings:
        """How the engine works in this process."""
        return self._inside.settings

    @property
    def transactions(self) -> Transactions:
        """Requests for runs in a transaction of your own."""
        return self._inside.transactions

    @property
    def _life(self) -> Lifecycle:
        return self._inside.life

    def after_fork(self) -> None:
        """Make the scheduler usable in a forked child whose parent had opened it."""
        self._inside.move_to(self.settings.store)

    @property
    def promises(self) -> Promises:
        """What the store lets us promise; known once it is open."""
        return self._inside.store.promises

    @property
    def store_url(self) -> str:
        """Where data lives."""
        return self._inside.store.name

    def job(
        self,
        trigger: Trigger | None = None,
        *,
        name: str | None = None,
        isolation: Literal["none", "process"] = "none",
        shared: bool = False,
        at_start: AtStart | None = None,
        **policies: Unpack[Policies],
    ) -> Declare:
        """Declare a function as a job: by a trigger, or without one on demand.

        Policies are the fields of a job: retry, overlap, misfire, timeout, queue, payload, …
        With `isolation="process"` it runs in a process of its own, which can be killed.
        With `shared=True` jobs of every project may call the function, not only this one's.
        With `at_start="boot"` it also runs once after each boot of the machine, as by cron's
        `@reboot`; with "process", at each start of this scheduler with a worker.
        """
        # Refused before the function is seen: a function in place of the trigger, above all.
        self._definition("job" if name is None else name, trigger, Call("job"), dict(policies))

        def decorate(function: Callable[..., Any]) -> JobFunction[Any, Any, Any, Any]:
            chosen = getattr(function, "__name__", "") if name is None else name
            job = self._definition(chosen, trigger, Call(chosen), dict(policies))
            handler = Handler(chosen, function, isolation, shared=shared)
            check_keys(job, handler)
            self._tend(handler)
            if at_start is not None or not isinstance(job.trigger, OnDemand):
                handler.arguments(job.payload)  # a fire that cannot be called is refused here
            self._start_runs.add(chosen, at_start)
            self._inside.handlers.register(handler)
            self._declare(stamped(replace(job, app=self.app)))
            return JobFunction(function, handler, self, self.blocking)

        return cast("Declare", decorate)

    def declare(
        self,
        name: str,
        trigger: Trigger | None,
        target: Target,
        *,
        at_start: AtStart | None = None,
        **policies: Unpack[Policies],
    ) -> None:
        """Declare a job whose target is no function of this program: a webhook, a Celery task.

        Like one by `@scheduler.job`, it is paused once the code declares it no more.
        """
        job = self._definition(name, trigger, target, dict(policies))
        self._start_runs.add(name, at_start)
        self._declare(stamped(replace(job, app=self.app)))

    def _tend(self, handler: Handler) -> None:
        """Let it call its function inside what a framework does around every call."""

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
            self._inside.events.emit(StepFailed(service="sync", error=error, failures=1, rest=0.0))

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
            self._inside.events.emit(
                JobPaused(job=name, why=gone_from(self.app), project=self.project)
            )
        for name in synced.over:
            self._inside.events.emit(JobOver(job=name))
        return synced

    async def _add_declared(self, name: str) -> bool:
        found = [job for job in self._declared if job.name == name]
        near = [] if found else get_close_matches(name, [job.name for job in self._declared], n=1)
        if near:
            raise NotFound("job", name, hint=f"Did you mean {near[0]!r}?")
        for job in found:
            await self._syncing().sync_one(job, Synced())
        return bool(found)  # added here, or by another call at the same moment

    def _syncing(self) -> Syncing:
        return Syncing(self._inside.jobs, self._inside.store, self.app, self.project)

    async def start(self, roles: Collection[str] = BOTH) -> None:
        """Open the store, bring declared jobs up to date, and set the engine going."""
        unknown = frozenset(roles) - BOTH - {API}
        if unknown:
            raise InvalidSetting(
                f"{', '.join(sorted(unknown))} is not a role",
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

    def middleware(self, function: M) -> M:
        """Call every handler's attempts within this function; the first declared is outermost.

        It takes the attempt's `Run` and `call_next`, which calls what is within it, and returns the
        result: `async def timing(run, call_next): return await call_next()`. A plain function calls
        it without `await`.
        """
        self._inside.handlers.use(function)
        return function

    def on(self, what: What | type[Event], *, job: str | None = None) -> Callable[[H], H]:
        """Call the function at every "start", "stop", "idle", "error", or event of a class.

        Also "fired", "skipped", "started", "late", "finished", "dead", "revived", "paused" and
        "edited"; with a job's name, for that job only.
        """
        check_event(what)

        def decorate(hook: H) -> H:
            self._inside.hooks.add(what, hook, job)
            return hook

        return decorate

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the function with every event of this process; returns how to unsubscribe."""
        return self._inside.hooks.subscribe(listener)

    def metrics(self) -> Metrics:
        """What this process counts, from the first call on, and figures of its store.

        `await metrics.text(accept)` is what Prometheus scrapes; `metrics.collector()` is for a
        registry of your own. Both need `pip install 'tickwell[metrics]'`.
        """
        return self._inside.marshalled(self._metrics)

    @cached_property
    def _metrics(self) -> Metrics:
        from tickwell.wiring import make_metrics

        made = make_metrics(
            self._inside.store, self._inside.clock, self.settings, self._inside.events
        )
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

        inside = self._inside
        operation_context = inside.operation_context()
        app = make_api(
            operation_context,
            health=self.health,
            settings=self.settings,
            events=self._inside.events,
            metrics=self._metrics if self.settings.metrics else None,
        )
        app.add_middleware(InOwner, owner=self._owner)
        from tickwell.web.access import first_mounted

        async def welcome() -> None:
            if (
                operation_context.store is self._inside.store
            ):  # a test lets the scheduler live elsewhere meanwhile
                await first_mounted(app.state.context, operation_context, self.settings.store)

        self._life.prepare = welcome
        if self._life.engine is not None:
            self._life.engine.announce(API)
        if self._life.engine is not None and self._life.loop is not None:
            self._life.loop.call_soon_threadsafe(self._life.spawn, welcome)
        return app

    async def _make_engine(self, roles: frozenset[str]) -> Engine:
        from tickwell.wiring import make_engine

        synced, inside = await self.sync(), self._inside
        if "worker" in roles:
            await self._start_runs.request(
                inside.jobs, inside.executions, inside.store, inside.clock
            )
        return make_engine(
            self._inside.store,
            self._inside.handlers,
            self._inside.clock,
            self.settings,
            events=self._inside.events,
            roles=roles | {API} if "_app" in self.__dict__ else roles,
            executor=self._inside.executor,
            extra=[OrphanedJobs(self._take_away)] if synced.kept else [],
            inbox=self._inside.inbox,
        )

    async def _print_banner(self) -> None:
        await print_banner(
            self._inside.store, self.store_url, self.project, self._inside.clock.now()
        )

    def _make_loop(self) -> asyncio.AbstractEventLoop:
        from tickwell.wiring import loop_factory

        return loop_factory()()
