"""Handlers: Python functions, by name."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable
from typing import Any

from tickwell.errors import DuplicateHandler, InvalidJob, InvalidPayload, UnknownHandler
from tickwell.executors.run import Run


class Handler:
    """A registered function, with what was found out about it once."""

    def __init__(self, name: str, function: Callable[..., Any], isolation: str = "none") -> None:
        if not callable(function) or _is_generator(function):
            raise InvalidJob(
                f"{function!r} is not a function that can be called and ends",
                field="handler",
                hint="Use def or async def, without yield",
            )
        self.name = name
        self.function = function
        self.is_async = inspect.iscoroutinefunction(function)
        self.signature = inspect.signature(function)
        self.run_parameter = _run_parameter(function, self.signature)
        self._takes, self._needs = _names(self.signature, self.run_parameter)

    def arguments(self, payload: Any) -> dict[str, Any]:
        """The keyword arguments for a payload; `InvalidPayload` when they do not fit."""
        if payload is None:
            payload = {}
        if not isinstance(payload, dict):
            raise InvalidPayload(
                f"handler {self.name!r} takes named arguments, the payload is"
                f" {type(payload).__name__}",
                hint='Give an object, for example {"user_id": 7}',
            )
        if self._needs <= payload.keys() <= self._takes:
            return dict(payload)  # binding would say the same, at five times the cost
        expected = dict(payload)
        if self.run_parameter:
            expected[self.run_parameter] = None
        try:
            self.signature.bind(**expected)
        except TypeError as error:
            raise self._misfit(error) from error
        return dict(payload)

    def payload(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        """The payload that calls the handler with these arguments."""
        own = [one for name, one in self.signature.parameters.items() if name != self.run_parameter]
        try:
            given = self.signature.replace(parameters=own).bind_partial(*args, **kwargs).arguments
        except TypeError as error:
            raise self._misfit(error) from error
        for parameter in own:
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                given |= given.pop(parameter.name, {})
        self.arguments(given or None)
        return dict(given) or None

    def _misfit(self, error: TypeError) -> InvalidPayload:
        return InvalidPayload(
            f"handler {self.name!r} cannot be called so: {error}",
            hint=f"Its parameters are {self.signature}",
        )


class Handlers:
    """The handlers of this process."""

    def __init__(self) -> None:
        self._by_name: dict[str, Handler] = {}

    def add(self, name: str, function: Callable[..., Any], isolation: str = "none") -> Handler:
        """Register a function; one name, one function."""
        return self.register(Handler(name, function, isolation))

    def register(self, handler: Handler) -> Handler:
        """Register a handler that was made before, to see whether it fits."""
        if handler.name in self._by_name:
            raise DuplicateHandler(handler.name)
        self._by_name[handler.name] = handler
        return handler

    def get(self, name: str) -> Handler:
        """The handler, or `UnknownHandler`."""
        try:
            return self._by_name[name]
        except KeyError:
            raise UnknownHandler(name) from None

    def find(self, name: str) -> Handler | None:
        """The handler, if it is registered here."""
        return self._by_name.get(name)

    def all(self) -> list[Handler]:
        """Every handler."""
        return list(self._by_name.values())


def _is_generator(function: Callable[..., Any]) -> bool:
    return inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function)


def _names(
    signature: inspect.Signature, run_parameter: str | None
) -> tuple[frozenset[str], frozenset[str]]:
    """The parameters that a payload may name, and those that it must."""
    named = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}
    taken = [
        parameter
        for parameter in signature.parameters.values()
        if parameter.kind in named and parameter.name != run_parameter
    ]
    needed = [one.name for one in taken if one.default is inspect.Parameter.empty]
    return frozenset(one.name for one in taken), frozenset(needed)


def _run_parameter(function: Callable[..., Any], signature: inspect.Signature) -> str | None:
    """The parameter that wants the `Run`: annotated so, since a name alone may mean anything."""
    try:
        hints = typing.get_type_hints(function)
    except Exception:  # noqa: BLE001 - annotations of users may name what is not importable here
        hints = {name: p.annotation for name, p in signature.parameters.items()}
    found = [name for name in signature.parameters if hints.get(name) in {Run, "Run"}]
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise InvalidJob(
                f"handler {function.__qualname__!r} has the positional-only parameter"
                f" {parameter.name!r}; payloads are passed by name",
                hint="Remove the / from its parameters",
            )
    return found[0] if found else None
