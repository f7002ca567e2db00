"""Functions declared as jobs: they stay callable, and know how to be triggered."""

from __future__ import annotations

import functools
from collections.abc import Callable
from datetime import datetime
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, overload

from tickwell.domain.execution import Execution
from tickwell.domain.trigger.duration import Duration
from tickwell.executors.handlers import Handler
from tickwell.executors.run import Run

#: How the function is called, and how it is triggered: without its `Run`.
P = ParamSpec("P")
T = ParamSpec("T")
R = TypeVar("R")


class Requests(Protocol):
    """What a declared function needs of its scheduler: runs by name, awaited."""

    async def trigger(
        self, name: str, payload: Any = None, *, key: str | None = None
    ) -> Execution: ...

    async def trigger_at(
        self, when: datetime, name: str, payload: Any = None, *, key: str | None = None
    ) -> Execution: ...

    async def trigger_in(
        self, delay: Duration, name: str, payload: Any = None, *, key: str | None = None
    ) -> Execution: ...


class BlockingRequests(Protocol):
    """The same for code without an event loop."""

    def trigger(self, name: str, payload: Any = None, *, key: str | None = None) -> Execution: ...

    def trigger_at(
        self, when: datetime, name: str, payload: Any = None, *, key: str | None = None
    ) -> Execution: ...

    def trigger_in(
        self, delay: Duration, name: str, payload: Any = None, *, key: str | None = None
    ) -> Execution: ...


class JobFunction(Generic[P, T, R]):
    """A decorated function: call it as before, or `trigger` it as a job."""

    def __init__(
        self,
        function: Callable[P, R],
        handler: Handler,
        requests: Requests,
        blocking: BlockingRequests,
        key: str | None = None,
    ) -> None:
        functools.update_wrapper(self, function)
        #: The name of the job and of its handler.
        self.name = handler.name
        #: What runs it.
        self.handler = handler
        self._function = function
        self._requests = requests
        self._blocking = blocking
        self._key = key

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> R:
        """Call the function itself; no job is involved."""
        return self._function(*args, **kwargs)

    async def trigger(self, *args: T.args, **kwargs: T.kwargs) -> Execution:
        """Run it as a job, now, with these arguments."""
        payload = self.handler.payload(*args, **kwargs)
        return await self._requests.trigger(self.name, payload, key=self._key)

    async def trigger_at(self, when: datetime, *args: T.args, **kwargs: T.kwargs) -> Execution:
        """Run it at an instant: a datetime that says its time zone."""
        payload = self.handler.payload(*args, **kwargs)
        return await self._requests.trigger_at(when, self.name, payload, key=self._key)

    async def trigger_in(self, delay: Duration, *args: T.args, **kwargs: T.kwargs) -> Execution:
        """Run it after a while: "10m", or a timedelta."""
        payload = self.handler.payload(*args, **kwargs)
        return await self._requests.trigger_in(delay, self.name, payload, key=self._key)

    def keyed(self, key: str) -> JobFunction[P, T, R]:
        """The same function, whose requests with this key are one run, however often they come."""
        return JobFunction(self._function, self.handler, self._requests, self._blocking, key)

    @property
    def blocking(self) -> BlockingFunction[T]:
        """The same requests from code without an event loop."""
        return BlockingFunction(self.handler, self._blocking, self._key)

    def __repr__(self) -> str:
        return f"<job {self.name!r}: {self._function!r}>"


class BlockingFunction(Generic[T]):
    """Requests to run a declared function, from code without an event loop."""

    def __init__(self, handler: Handler, requests: BlockingRequests, key: str | None) -> None:
        self._handler = handler
        self._requests = requests
        self._key = key

    def trigger(self, *args: T.args, **kwargs: T.kwargs) -> Execution:
        """Run it as a job, now, with these arguments."""
        payload = self._handler.payload(*args, **kwargs)
        return self._requests.trigger(self._handler.name, payload, key=self._key)

    def trigger_at(self, when: datetime, *args: T.args, **kwargs: T.kwargs) -> Execution:
        """Run it at an instant: a datetime that says its time zone."""
        payload = self._handler.payload(*args, **kwargs)
        return self._requests.trigger_at(when, self._handler.name, payload, key=self._key)

    def trigger_in(self, delay: Duration, *args: T.args, **kwargs: T.kwargs) -> Execution:
        """Run it after a while: "10m", or a timedelta."""
        payload = self._handler.payload(*args, **kwargs)
        return self._requests.trigger_in(delay, self._handler.name, payload, key=self._key)


class Declare(Protocol):
    """What `@scheduler.job(…)` is: type checkers know how to trigger what takes its `Run` first."""

    @overload
    def __call__(
        self, function: Callable[Concatenate[Run, T], R], /
    ) -> JobFunction[Concatenate[Run, T], T, R]: ...

    @overload
    def __call__(self, function: Callable[T, R], /) -> JobFunction[T, T, R]: ...
