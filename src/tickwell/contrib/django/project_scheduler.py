"""The one scheduler of a Django project."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Literal, Unpack, cast

from asgiref.sync import sync_to_async
from django.db import close_old_connections

from tickwell.contrib.django.configuration import Configuration, read_configuration
from tickwell.contrib.django.isolated import locate
from tickwell.contrib.django.store_url import store_url_of
from tickwell.contrib.django.task_job import TaskJob
from tickwell.contrib.django.transactions import TransactionalBlocking
from tickwell.declared.function import Declare, JobFunction, handler_of
from tickwell.declared.policies import Policies
from tickwell.declared.start_runs import AtStart
from tickwell.domain.trigger import Trigger
from tickwell.errors import NotFound
from tickwell.executors.handlers import Handler
from tickwell.scheduler import Scheduler


class ProjectScheduler(Scheduler):
    """A scheduler whose store, transactions and handlers fit into a Django project."""

    blocking: TransactionalBlocking

    def __init__(self, configuration: Configuration) -> None:
        super().__init__(
            configuration.settings.store,
            app=configuration.app,
            project=configuration.project,
            settings=configuration.settings,
        )
        self.configuration = configuration
        #: Tasks of Django's framework, by their paths, as they are declared.
        self.tasks: dict[str, Any] = {}
        #: What `using(…)` made of them, by the names of their jobs.
        self.task_jobs: dict[str, TaskJob] = {}
        self.blocking = TransactionalBlocking(self, self._owner, configuration.database)

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
        """Declare a function as a job, as any scheduler does."""
        declare = super().job(
            trigger,
            name=name,
            isolation=isolation,
            shared=shared,
            at_start=at_start,
            **policies,
        )

        def decorate(function: Callable[..., Any]) -> JobFunction[Any, Any, Any, Any]:
            declared = declare(function)
            locate(handler_of(declared))
            return declared

        return cast("Declare", decorate)

    def _tend(self, handler: Handler) -> None:
        """Close connections that are too old or broken, as Django does around a request."""
        function = handler.function

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            close_old_connections()
            try:
                return function(*args, **kwargs)
            finally:
                close_old_connections()

        @functools.wraps(function)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            await _close_in_thread()
            try:
                return await function(*args, **kwargs)
            finally:
                await _close_in_thread()

        handler.function = call_async if handler.is_async else call

    def add_declared(self) -> None:
        """Bring jobs that the store does not know yet into it; runs nothing."""

        async def add() -> None:
            for job in list(self._declared):
                try:
                    await self.get_job(job.name)
                except NotFound:
                    await self.add_one_declared(job.name)
            for name, task_job in list(self.task_jobs.items()):
                await task_job.ensure(name, self)

        was_open = self._life.opened
        self.blocking.call(add)
        if not was_open:  # its connections would keep a test's database from being dropped
            self.blocking.stop()

    def declares(self, name: str) -> bool:
        """Whether the project's code declares a job of this name."""
        return any(job.name == name for job in self._declared)

    async def add_one_declared(self, name: str) -> None:
        """Bring a job that the code declares into the store."""
        await self.open()
        await self._add_declared(name)

    def follow(self, connection: Any) -> None:
        """Move to the database that Django connects to now, as long as nothing was opened."""
        if self.configuration.is_derived and not self._life.opened:
            store = store_url_of(connection)
            if store != self.settings.store:
                self._inside.move_to(store)

    def wake(self) -> None:
        """Let an engine in this process look at once; from any thread."""
        if self._life.engine is not None and self._life.loop is not None:
            self._life.loop.call_soon_threadsafe(self._inside.wake)


#: Async code reaches the database in this thread.
_close_in_thread = sync_to_async(close_old_connections)

scheduler = ProjectScheduler(read_configuration())
