"""An operation as a method of both clients: one function builds the request, each sends it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from functools import wraps
from typing import Any, Generic, ParamSpec, TypeVar, overload

from tickwell.client.call import Call
from tickwell.client.results import Page

P = ParamSpec("P")
T = TypeVar("T")


class Blocks(ABC):
    """A client whose methods wait for the answer."""

    @abstractmethod
    def send(self, call: Call[T]) -> T:
        """The document that a request is answered with."""

    @abstractmethod
    def each(self, call: Call[Page[T]]) -> Iterator[T]:
        """All items of a list, page after page."""


class Awaits(ABC):
    """A client whose methods are awaited."""

    @abstractmethod
    async def send(self, call: Call[T]) -> T:
        """The document that a request is answered with."""

    @abstractmethod
    def each(self, call: Call[Page[T]]) -> AsyncIterator[T]:
        """All items of a list, page after page."""


class Operation(Generic[P, T]):
    """Answers one document."""

    def __init__(self, build: Callable[P, Call[T]]) -> None:
        self.build = build
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> Operation[P, T]: ...
    @overload
    def __get__(self, client: Blocks, owner: type) -> Callable[P, T]: ...
    @overload
    def __get__(self, client: Awaits, owner: type) -> Callable[P, Coroutine[Any, Any, T]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        return self if client is None else _bound(self.build, client.send)


class Listing(Generic[P, T]):
    """Iterates over all pages of a list, from `cursor` on; `limit` is the size of a page."""

    def __init__(self, build: Callable[P, Call[Page[T]]]) -> None:
        self.build = build
        self.__doc__ = build.__doc__

    @overload
    def __get__(self, client: None, owner: type) -> Listing[P, T]: ...
    @overload
    def __get__(self, client: Blocks, owner: type) -> Callable[P, Iterator[T]]: ...
    @overload
    def __get__(self, client: Awaits, owner: type) -> Callable[P, AsyncIterator[T]]: ...
    def __get__(self, client: Any, owner: type) -> Any:
        return self if client is None else _bound(self.build, client.each)


def _bound(build: Callable[P, Call[Any]], send: Callable[[Call[Any]], Any]) -> Callable[P, Any]:
    @wraps(build)
    def run(*args: P.args, **kwargs: P.kwargs) -> Any:
        return send(build(*args, **kwargs))

    return run
