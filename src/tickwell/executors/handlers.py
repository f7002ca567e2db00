"""Handlers: Python functions, by name."""

from __future__ import annotations

import inspect
import typing
from collections.abc import Callable, Iterable
from typing import Any

from tickwell.domain.ability import DEFAULT, call_ability, shared_ability
from tickwell.errors import DuplicateHandler, InvalidJob, InvalidPayload, UnknownHandler
from tickwell.executors.jsonable import jsonable
from tickwell.executors.run import Run
from tickwell.executors.typed import Reader, Unfit, reader_of

#: What the name of a process begins with that isolated handlers run in.
CHILD_NAME = "tickwell-child"
#: Names in one sentence.
_MOST_NAMES = 5


class Handler:
    """A registered function, with what was found out about it once."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        isolation: str = "none",
        *,
        shared: bool = False,
    ) -> None:
        if not callable(function) or _is_generator(function):
            raise InvalidJob(
                f"{function!r} is not a function that can be called and ends",
                field="handler",
                hint="Use def or async def, without yield",
            )
        self.name = name
        #: Whether jobs of all projects may call it; otherwise those of its scheduler's only.
        self.shared = shared
        self.function = function
        self.is_async = inspect.iscoroutinefunction(function)
        #: Where it runs: in this process ("none"), or in a process of its own ("process").
        self.isolation = _isolation(isolation)
        #: Where that process finds it.
        self.module, self.qualname = ("", "")
        if isolation == "process":
            self.module, self.qualname = _importable(function)
        self.signature = inspect.signature(function)
        hints = _hints(function, self.signature)
        self.run_parameter = _run_parameter(function, self.signature, hints)
        self._takes, self._needs = _names(self.signature, self.run_parameter)
        self._takes_others = _takes_others(self.signature)
        self._readers = _readers(hints, self._takes)
        self._other = _reader_of_others(hints, self.signature)

    def arguments(self, payload: Any) -> dict[str, Any]:
        """The keyword arguments for a payload; `InvalidPayload` when they do not fit."""
        if payload is None:
            if not self._needs:
                return {}
            payload = {}
        if not isinstance(payload, dict):
            raise InvalidPayload(
                f"handler {self.name!r} takes named arguments, the payload is"
                f" {type(payload).__name__}",
                hint='Give an object, for example {"user_id": 7}',
            )
        if not self._needs <= payload.keys() <= self._takes:
            self._check_names(payload)
        given = dict(payload)
        if given and (self._readers or self._other):
            for name, value in payload.items():
                reader = self._readers.get(name) if name in self._takes else self._other
                if reader is not None:
                    given[name] = self._read(reader, name, value)
        return given

    def _check_names(self, payload: dict[str, Any]) -> None:
        """Name all that is wrong: what is missing was often given by a slip of its name."""
        strange = [name for name in payload if not self._may_name(name)]
        missing = sorted(self._needs - payload.keys())
        wrong = [f"it takes no {_names_of(strange)}"] if strange else []
        wrong += [f"it needs {_names_of(missing)}"] if missing else []
        if wrong:
            raise self._misfit(" and ".join(wrong), field="payload")

    def _may_name(self, name: str) -> bool:
        return name in self._takes or (self._takes_others and name != self.run_parameter)

    def _read(self, reader: Reader, name: str, value: Any) -> Any:
        try:
            return reader.read(value)
        except Unfit as unfit:
            raise InvalidPayload(
                f"handler {self.name!r} takes {unfit.wanted} here, not {_short(unfit.value)}",
                field=".".join(("payload", name, *unfit.path)),
                hint=f"Its parameters are {self.signature}",
            ) from None

    def payload(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        """The payload that calls the handler with these arguments."""
        own = [one for name, one in self.signature.parameters.items() if name != self.run_parameter]
        try:
            given = self.signature.replace(parameters=own).bind_partial(*args, **kwargs).arguments
        except TypeError as error:
            raise self._misfit(str(error)) from error
        for parameter in own:
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                given |= given.pop(parameter.name, {})
        payload = jsonable(dict(given))
        self.arguments(payload)
        return payload or None

    def _misfit(self, why: str, field: str = "") -> InvalidPayload:
        return InvalidPayload(
            f"handler {self.name!r} cannot be called so: {why}",
            field=field,
            hint=f"Its parameters are {self.signature}",
        )


class Handlers:
    """The handlers of this process. They belong to one project, but for those that are shared."""

    def __init__(self, project: str = DEFAULT) -> None:
        self.project = project
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

    def get(self, name: str, project: str) -> Handler:
        """The handler that a job of the project may call, or `UnknownHandler`."""
        handler = self.find(name, project)
        if handler is None:
            raise UnknownHandler(name)
        return handler

    def find(self, name: str, project: str) -> Handler | None:
        """The handler, if it is registered here and a job of the project may call it."""
        handler = self._by_name.get(name)
        return handler if handler and (handler.shared or project == self.project) else None

    def ability(self, handler: Handler) -> str:
        """What a worker announces that has it."""
        if handler.shared:
            return shared_ability(handler.name)
        return call_ability(self.project, handler.name)

    def all(self) -> list[Handler]:
        """Every handler."""
        return list(self._by_name.values())


def _isolation(given: str) -> str:
    if given not in {"none", "process"}:
        raise InvalidJob(
            f"{given!r} is no isolation", field="isolation", hint='Use "process", or leave it out'
        )
    return given


def _importable(function: Callable[..., Any]) -> tuple[str, str]:
    """Where a child process finds the function: its module and its name there."""
    module = getattr(function, "__module__", None)
    name = getattr(function, "__qualname__", None)
    if not module or not name or "<" in name:
        raise InvalidJob(
            f"{function!r} cannot be imported by a process of its own",
            field="isolation",
            hint="Define it with def or async def at the top of a module",
        )
    return module, name


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


def _takes_others(signature: inspect.Signature) -> bool:
    kinds = {parameter.kind for parameter in signature.parameters.values()}
    return inspect.Parameter.VAR_KEYWORD in kinds


def _hints(function: Callable[..., Any], signature: inspect.Signature) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function)
    except Exception:  # noqa: BLE001 - annotations of users may name what is not importable here
        return {name: p.annotation for name, p in signature.parameters.items()}


def _readers(hints: dict[str, Any], names: Iterable[str]) -> dict[str, Reader]:
    found = {name: reader_of(hints[name]) for name in names if name in hints}
    return {name: reader for name, reader in found.items() if reader is not None}


def _reader_of_others(hints: dict[str, Any], signature: inspect.Signature) -> Reader | None:
    """How to read what goes into `**others`."""
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD and parameter.name in hints:
            return reader_of(hints[parameter.name])
    return None


def _run_parameter(
    function: Callable[..., Any], signature: inspect.Signature, hints: dict[str, Any]
) -> str | None:
    """The parameter that wants the `Run`: annotated so, since a name alone may mean anything."""
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            raise InvalidJob(
                f"handler {function.__qualname__!r} has the positional-only parameter"
                f" {parameter.name!r}; payloads are passed by name",
                hint="Remove the / from its parameters",
            )
    return next((name for name in signature.parameters if hints.get(name) in (Run, "Run")), None)


def _names_of(names: list[str]) -> str:
    return ", ".join(_short(name) for name in names[:_MOST_NAMES])


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
