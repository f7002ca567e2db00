"""Functions declared as jobs: they stay callable, and know how to be triggered."""

from __future__ import annotations

import functools
from collections.abc import Callable, Coroutine
from datetime import datetime
from typing import Any, Concatenate, Generic, ParamSpec, Protocol, TypeVar, Unpack, overload

from tickwell.declared.policies import RequestOptions
from tickwell.declared.read_models import Execution
from tickwell.domain.trigger.duration import Duration
from tickwell.executors.handlers import Handler
from tickwell.executors.run import Run

#: How the function is called, and how it is triggered: without its `Run`.
P = ParamSpec("P")
T = ParamSpec("T")
#: What a call returns: of an async function a coroutine.
C = TypeVar("C")
#: What a run results in.
R = TypeVar("R")
R_co = TypeVar("R_co", covariant=True)


class Requests(Protocol):
    """What a declared function needs of its scheduler: runs by name, awaited."""

    async def trigger(
        self, name: str, payload: Any = None, **options: Unpack[RequestOptions]
    ) -> Execution[Any]: ...

    async def trigger_at(
        self, when: datetime, name: str, payload: Any = None, **options: Unpack[RequestOptions]
    ) -> Execution[Any]: ...

    async def trigger_in(
        self, delay: Duration, name: str, payload: Any = None, **options: Unpack[RequestOptions]
    ) -> Execution[Any]: ...


class BlockingRequests(Protocol):
    """The same for code without an event loop."""

    def trigger(
        self, name: str, payload: Any = None, **options: Unpack[RequestOptions]
    ) -> Execution[Any]: ...

    def trigger_at(
        self, when: datetime, name: str, payload: Any = None, **options: Unpack[RequestOptions]
    ) -> Execution[Any]: ...

    def trigger_in(
        self, delay: Duration, name: str, payload: Any = None, **options: Unpack[RequestOptions]
    ) -> Execution[Any]: ...


class JobFunction(Generic[P, T, C, R]):
    """A decorated function: call it as before, or `trigger` it as a job."""

    def __init__(
        self,
        function: Callable[P, C],
        handler: Handler,
        requests: Requests,
        blocking: BlockingRequests,
        options: RequestOptions | None = None,
    ) -> None:
        if isinstance(function, type):  # whose attributes are those of its objects
            functools.update_wrapper(self, function, updated=())
        else:
            functools.update_wrapper(self, function)
        #: The name of the job and of its handler.
        self.name = handler.name
        self._handler = handler
        self._function = function
        self._requests = requests
        self._blocking = blocking
        self._options: RequestOptions = options or {}

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> C:
        """Call the function itself; no job is involved."""
        return self._function(*args, **kwargs)

    async def trigger(self, *args: T.args, **kwargs: T.kwargs) -> Execution[R]:
        """Run it as a job, now, with these arguments."""
        payload = self._handler.payload(*args, **kwargs)
        return await self._requests.trigger(self.name, payload, **self._options)

    async def trigger_at(self, when: datetime, *args: T.args, **kwargs: T.kwargs) -> Execution[R]:
        """Run it at a moment: a datetime with a time zone."""
        payload = self._handler.payload(*args, **kwargs)
        return await self._requests.trigger_at(when, self.name, payload, **self._options)

    async def trigger_in(self, delay: Duration, *args: T.args, **kwargs: T.kwargs) -> Execution[R]:
        """Run it after a delay: "10m", or a timedelta."""
        payload = self._handler.payload(*args, **kwargs)
        return await self._requests.trigger_in(delay, self.name, payload, **self._options)

    def options(self, **options: Unpack[RequestOptions]) -> JobFunction[P, T, C, R]:
        """The same function, whose requests have this idempotency key, or another rule.

        The rules are those of the job: `unless`, `unique_key`, `debounce` and `debounce_max`.
        """
        merged: RequestOptions = {**self._options, **options}
        return JobFunction(self._function, self._handler, self._requests, self._blocking, merged)

    @property
    def blocking(self) -> BlockingFunction[T, R]:
        """The same requests from code without an event loop."""
        return BlockingFunction(self._handler, self._blocking, self._options)

    def __repr__(self) -> str:
        return f"<job {self.name!r}: {self._function!r}>"


def handler_of(function: JobFunction[Any, Any, Any, Any]) -> Handler:
    """What runs a declared function; for integrations of ours."""
    return function._handler  # noqa: SLF001 - not for library users


class BlockingFunction(Generic[T, R]):
    """Requests to run a declared function, from code without an event loop."""

    def __init__(
        self, handler: Handler, requests: BlockingRequests, options: RequestOptions
    ) -> None:
        self._handler = handler
        self._requests = requests
        self._options = options

    def trigger(self, *args: T.args, **kwargs: T.kwargs) -> Execution[R]:
        """Run it as a job, now, with these arguments."""
        payload = self._handler.payload(*args, **kwargs)
        return self._requests.trigger(self._handler.name, payload, **self._options)

    def trigger_at(self, when: datetime, *args: T.args, **kwargs: T.kwargs) -> Execution[R]:
        """Run it at a moment: a datetime with a time zone."""
        payload = self._handler.payload(*args, **kwargs)
        return self._requests.trigger_at(when, self._handler.name, payload, **self._options)

    def trigger_in(self, delay: Duration, *args: T.args, **kwargs: T.kwargs) -> Execution[R]:
        """Run it after a delay: "10m", or a timedelta."""
        payload = self._handler.payload(*args, **kwargs)
        return self._requests.trigger_in(delay, self._handler.name, payload, **self._options)


class RunMethod(Protocol[T, R_co]):
    """A class whose method `run` is the handler."""

    def run(self, *args: T.args, **kwargs: T.kwargs) -> R_co: ...


class RunMethodWithRun(Protocol[T, R_co]):
    """One whose method takes the attempt first."""

    def run(self, run: Run, /, *args: T.args, **kwargs: T.kwargs) -> R_co: ...


class Declare(Protocol):
    """What `@scheduler.job(…)` is: type checkers know how to trigger what takes its `Run` first."""

    @overload
    def __call__(
        self, function: type[RunMethodWithRun[T, Coroutine[Any, Any, R]]], /
    ) -> JobFunction[..., T, Any, R]: ...

    @overload
    def __call__(
        self, function: type[RunMethod[T, Coroutine[Any, Any, R]]], /
    ) -> JobFunction[..., T, Any, R]: ...

    @overload
    def __call__(
        self, function: type[RunMethodWithRun[T, R]], /
    ) -> JobFunction[..., T, Any, R]: ...

    @overload
    def __call__(self, function: type[RunMethod[T, R]], /) -> JobFunction[..., T, Any, R]: ...

    @overload
    def __call__(
        self, function: Callable[Concatenate[Run, T], Coroutine[Any, Any, R]], /
    ) -> JobFunction[Concatenate[Run, T], T, Coroutine[Any, Any, R], R]: ...

    @overload
    def __call__(
        self, function: Callable[T, Coroutine[Any, Any, R]], /
    ) -> JobFunction[T, T, Coroutine[Any, Any, R], R]: ...

    @overload
    def __call__(
        self, function: Callable[Concatenate[Run, T], R], /
    ) -> JobFunction[Concatenate[Run, T], T, R, R]: ...

    @overload
    def __call__(self, function: Callable[T, R], /) -> JobFunction[T, T, R, R]: ...
