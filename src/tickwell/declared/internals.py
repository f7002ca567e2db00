"""What a scheduler is made of: for our service, integrations and tests, not for library users."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar, cast

from tickwell.clock import Clock, StoreClock
from tickwell.declared.hooks import Hooks
from tickwell.declared.lifecycle import Lifecycle
from tickwell.declared.owner_loop import Marshalled, OwnerLoop
from tickwell.domain.event import Cancelled, Events, JobChanged, Revived, Triggered
from tickwell.domain.execution import NewExecution
from tickwell.domain.job import Entry, Job
from tickwell.domain.target import Call
from tickwell.errors import NotRunning
from tickwell.executors.handlers import Handlers
from tickwell.ids import ENTROPY
from tickwell.observe.logs import EventLog
from tickwell.ports.executor import Executor
from tickwell.services.calendars.calendars import Calendars
from tickwell.services.executions.executions import Executions
from tickwell.services.executions.transactions import Transactions
from tickwell.services.jobs.admission import admission
from tickwell.services.jobs.jobs import Jobs
from tickwell.services.jobs.skips import Skips
from tickwell.services.projects.pauses import ProjectPausing
from tickwell.services.slots.slots import Slots
from tickwell.settings import Settings

if TYPE_CHECKING:
    from tickwell.declared.job_api import JobApi
    from tickwell.declared.read_models import Execution
    from tickwell.engine.engine import Engine
    from tickwell.engine.hints.hint_worker import HintInbox
    from tickwell.engine.supervisor import Supervisor
    from tickwell.services.operations import OperationContext
    from tickwell.wiring import NotifyingStore

V = TypeVar("V")


def internals(scheduler: JobApi) -> Internals:
    """The one way in for code of ours; a library user has no need of it."""
    return scheduler._inside  # noqa: SLF001 - this is the door


class Internals:
    """A scheduler's store, clock, services, handlers and events."""

    def __init__(
        self,
        project: str,
        settings: Settings,
        owner: OwnerLoop,
        open_store: Callable[[], Awaitable[None]],
    ) -> None:
        self.project = project
        self.settings = settings
        self.owner = owner
        self._open_store = open_store
        self.events = Events()
        self._event_log = EventLog()
        self.events.subscribe(self._event_log.hear)
        self.handlers = Handlers(project)
        #: Set before the start in the worker of another task queue; see `HintInbox`.
        self.inbox: HintInbox | None = None
        #: What carries out targets instead of all that this installation can.
        self.executor: Executor | None = None
        self.hooks = Hooks(self.events)
        #: Set by tests: brings a requested run to its end before the request is answered.
        self.at_once: Callable[[Execution[Any]], Awaitable[Execution[Any]]] | None = None
        self.live_on(self._make_store(settings.store), StoreClock(), settings)

    def move_to(self, store: str) -> None:
        """Use another store; only before anything was read or written, or after a fork."""
        if self.life.opened:
            raise NotRunning("the scheduler has opened its store; choose the store before that")
        self.live_on(self._make_store(store), StoreClock(), replace(self.settings, store=store))

    def live_on(
        self, store: NotifyingStore, clock: Clock, settings: Settings, *, claims_loop: bool = False
    ) -> None:
        """Use this store and this clock, as tests want it; before anything is opened.

        With `claims_loop` any call lets its event loop own the scheduler, not only a start: time
        that a test moves belongs to the loop of the test.
        """
        self.owner.always_claims = claims_loop
        self.settings, self.clock, self.store = settings, clock, store
        self._event_log.logs_runs = settings.log_runs
        random = ENTROPY
        jobs = Jobs(store, clock, random, self.wake)
        self.jobs = self.marshalled(jobs)
        self.pauses = self.marshalled(ProjectPausing(store, clock, self.wake))
        self.calendars = self.marshalled(Calendars(store, jobs))
        self.skips = self.marshalled(Skips(store, jobs))
        self.executions = self.marshalled(Executions(store, clock, random, self.wake))
        self.jobs.check = self.executions.check = self.check_payload
        self.executions.on_added, self.executions.on_revived = self._on_added, self._on_revived
        self.jobs.on_changed = self._on_changed
        self.executions.on_cancelled = self.jobs.on_cancelled = self._on_cancelled
        self.jobs.admit = admission(clock, settings)
        self.slots = self.marshalled(Slots(store, clock))
        self.transactions = Transactions(store, self.project, random, self.executions.fairness)
        self.transactions.check = self.check_payload
        self.life = Lifecycle(store, clock, self.hooks, self.owner)
        self.life.on_fork = self._on_fork

    def marshalled(self, service: V) -> V:
        """The service, whose async methods may be awaited in any event loop."""
        return cast("V", Marshalled(service, self.owner, self._open_store))

    @property
    def engine(self) -> Engine | None:
        """What runs in this process, if it does."""
        return self.life.engine

    def supervise(
        self, command: Sequence[str], count: int, environment: Mapping[str, str]
    ) -> Supervisor:
        """Worker processes of the same scheduler, kept running beside this one."""
        from tickwell.engine.supervisor import Supervisor

        return Supervisor(command, count, self.clock, self.events, environment=environment)

    def operation_context(self) -> OperationContext:
        """What operations on the scheduler's store are made of, for the faces of a service."""
        from tickwell.services.operations import OperationContext

        operation_context = OperationContext(
            store=self.store,
            clock=self.clock,
            random=ENTROPY,
            wake=self.wake,
            check=self.check_payload,
            public_url=self.settings.public_url,
        )
        operation_context.executions.on_added, operation_context.executions.on_revived = (
            self._on_added,
            self._on_revived,
        )
        operation_context.jobs.on_changed = self._on_changed
        operation_context.jobs.on_cancelled = self._on_cancelled
        operation_context.executions.on_cancelled = self._on_cancelled
        return operation_context

    def wake(self) -> None:
        """Let the loops of this process look at once."""
        if self.life.engine is not None:
            self.life.engine.wake()
            self.life.engine.hear()

    def check_payload(self, job: Job, payload: Any) -> None:
        """Refuse at once what a handler that is known here cannot be called with."""
        if isinstance(job.target, Call):
            handler = self.handlers.find(job.target.handler, job.project)
            if handler is not None:
                handler.arguments(payload)

    def read_result(self, job: Job) -> Callable[[Any], Any] | None:
        """How a result is read, by what a handler that is known here says that it returns."""
        if not isinstance(job.target, Call):
            return None
        handler = self.handlers.find(job.target.handler, job.project)
        return None if handler is None else handler.result

    def _on_added(self, executions: Sequence[NewExecution]) -> None:
        if executions and self.events.wanted:
            self.events.emit(Triggered(executions=executions))

    def _on_revived(self, project: str, ids: Sequence[str]) -> None:
        if ids and self.events.wants(Revived):
            self.events.emit(Revived(project=project, executions=tuple(ids)))

    def _on_cancelled(self, project: str, queues: Mapping[str, int]) -> None:
        if self.events.wanted:
            self.events.emit(Cancelled(project=project, queues=queues))

    def _on_changed(self, jobs: Sequence[Entry], action: str, by: str, why: str) -> None:
        if self.events.wants(JobChanged):
            for job in (entry.job for entry in jobs):
                self.events.emit(
                    JobChanged(
                        job=job.name, id=job.id, project=job.project, action=action, by=by, why=why
                    )
                )

    def _make_store(self, url: str) -> NotifyingStore:
        from tickwell.wiring import make_notifying_store

        return make_notifying_store(url, self.settings)

    def _on_fork(self) -> None:
        self.owner.forget()
        for service in (self.jobs, self.executions, self.slots, self.skips, self.transactions):
            service.store = self.life.store
