"""The scheduler for code without an event loop: scripts, Flask, Django."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Coroutine
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from tickwell.declared.job_api import JobApi
from tickwell.declared.owner_loop import OwnerLoop
from tickwell.declared.read_models import Execution
from tickwell.domain.trigger.duration import Duration

P = ParamSpec("P")
T = TypeVar("T")
R = TypeVar("R")


class BlockingCall(Generic[P, T]):
    """A call of the scheduler that waits for its answer, with the signature of the awaited one."""

    def __init__(self, method: Callable[Concatenate[Any, P], Coroutine[Any, Any, T]]) -> None:
        self._method = method
        self._name = method.__name__
        self.__doc__ = method.__doc__
        self.__signature__ = inspect.signature(method)

    def __get__(self, instance: Blocking | None, owner: type) -> Callable[P, T]:
        if instance is None:
            return self  # type: ignore[return-value]  # looked at, not called
        awaited: Callable[P, Coroutine[Any, Any, T]] = getattr(instance.scheduler, self._name)

        @functools.wraps(awaited)
        def call(*args: P.args, **kwargs: P.kwargs) -> T:
            return instance.call(lambda: awaited(*args, **kwargs))

        return call


class Blocking:
    """The scheduler's calls about jobs and executions, each of which waits for its answer."""

    def __init__(self, scheduler: JobApi, owner: OwnerLoop) -> None:
        #: The scheduler whose calls these are.
        self.scheduler = scheduler
        self._owner = owner

    def call(self, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """Run a coroutine in the scheduler's event loop, and wait for its result."""
        return self._owner.call(work)

    def stop(self) -> None:
        """Drain the engine if it runs in the background, close the store, end the thread."""
        self._owner.end_background()

    open = BlockingCall(JobApi.open)
    start = BlockingCall(JobApi.start)
    sync = BlockingCall(JobApi.sync)
    add_job = BlockingCall(JobApi.add_job)
    get_job = BlockingCall(JobApi.get_job)
    jobs = BlockingCall(JobApi.jobs)
    edit_job = BlockingCall(JobApi.edit_job)
    pause_job = BlockingCall(JobApi.pause_job)
    resume_job = BlockingCall(JobApi.resume_job)
    pause_project = BlockingCall(JobApi.pause_project)
    resume_project = BlockingCall(JobApi.resume_project)
    project_pause = BlockingCall(JobApi.project_pause)
    skip = BlockingCall(JobApi.skip)
    unskip = BlockingCall(JobApi.unskip)
    delete_job = BlockingCall(JobApi.delete_job)
    put_calendar = BlockingCall(JobApi.put_calendar)
    calendars = BlockingCall(JobApi.calendars)
    delete_calendar = BlockingCall(JobApi.delete_calendar)
    next_fires = BlockingCall(JobApi.next_fires)
    slots = BlockingCall(JobApi.slots)
    backfill = BlockingCall(JobApi.backfill)
    trigger = BlockingCall(JobApi.trigger)
    trigger_at = BlockingCall(JobApi.trigger_at)
    trigger_in = BlockingCall(JobApi.trigger_in)
    get_execution = BlockingCall(JobApi.get_execution)
    executions = BlockingCall(JobApi.executions)
    progress = BlockingCall(JobApi.progress)
    steps = BlockingCall(JobApi.steps)
    waits = BlockingCall(JobApi.waits)
    answer = BlockingCall(JobApi.answer)
    output = BlockingCall(JobApi.output)
    cancel = BlockingCall(JobApi.cancel)
    revive = BlockingCall(JobApi.revive)
    revive_edited = BlockingCall(JobApi.revive_edited)

    @overload
    def wait(self, execution: Execution[R], within: Duration | None = None) -> Execution[R]: ...

    @overload
    def wait(self, execution: str, within: Duration | None = None) -> Execution[Any]: ...

    def wait(
        self, execution: Execution[Any] | str, within: Duration | None = None
    ) -> Execution[Any]:
        """Wait until the execution, or the one with this id, has ended, and return it.

        After `within` it is returned as it is then.
        """
        return self.call(lambda: self.scheduler.wait(execution, within))
