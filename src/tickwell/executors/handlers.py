"""Handlers: Python functions, by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from tickwell.domain.ability import DEFAULT, call_ability, shared_ability
from tickwell.errors import DuplicateHandler, InvalidJob, InvalidPayload, UnknownHandler
from tickwell.executors.around.depends import dependencies_of
from tickwell.executors.around.layers import Around, Middleware, around_of, check_middleware
from tickwell.executors.around.signature import Parameters, parameters_of
from tickwell.executors.jsonable import jsonable
from tickwell.executors.pydantic_types import is_lost
from tickwell.executors.results import represented
from tickwell.executors.run import Run
from tickwell.executors.text import said
from tickwell.executors.typed import Foreign, Reader, Unfit, reader_of

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
        called, owner = _called(function)
        if not callable(called) or _is_generator(called):
            raise InvalidJob(
                f"{function!r} is not a function that can be called and ends",
                field="handler",
                hint="Use def or async def, without yield",
            )
        self.name = name
        #: Whether jobs of all projects may call it; otherwise those of its scheduler's only.
        self.shared = shared
        #: What is called; of a class its method, which gets an object of it.
        self.function = called
        self.is_async = _is_async(called)
        #: Where it runs: in this process ("none"), or in a process of its own ("process").
        self.isolation = _isolation(isolation)
        #: Where that process finds it.
        self.module, self.qualname = ("", "")
        if isolation == "process":
            self.module, self.qualname = _importable(function)
        parameters = parameters_of(called)
        _refuse_positional(called, parameters.signature)
        self.run_parameter = _run_parameter(parameters)
        #: What marked parameters need; None if there are none.
        self.dependencies = dependencies_of(name, parameters, owner)
        #: Middleware and dependencies; None if there are none: then it is called as it is.
        self.around: Around | None = None
        self.surround(())
        #: The same without middleware, for a condition.
        self.bare = self.around
        #: How to read what a payload may name, and the rest of the parameters as people see them.
        self._readers, self.signature = _readers(name, parameters, self._own_parameters())
        self._takes, self._needs = _names(self.signature, self.run_parameter)
        if parameters.is_passed_on:  # the decorator may supply what has no type
            self._needs &= parameters.hints.keys()
        self._takes_others = _takes_others(self.signature)
        self._other = _reader_of_others(parameters.hints, self.signature)
        self._result = _reader_if_any(parameters.hints.get("return", Any))

    def _own_parameters(self) -> set[str]:
        """What no payload may name: the attempt, and what is made for it."""
        return {self.run_parameter or "", *(self.dependencies.takes if self.dependencies else ())}

    @property
    def takes_thread(self) -> bool:
        """Whether an attempt needs a thread in this process."""
        return self.blocks_in(self.around)

    def blocks_in(self, around: Around | None) -> bool:
        """Whether its `Run` is used from a thread, by itself or by plain middleware."""
        return not self.is_async or (around is not None and around.needs_thread)

    def surround(self, middleware: Sequence[Middleware]) -> None:
        """Call it within this middleware from now on."""
        self.around = around_of(self, middleware)

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
        supplied = dict(payload)
        if supplied and (self._readers or self._other):
            for name, value in payload.items():
                reader = self._readers.get(name) if name in self._takes else self._other
                if reader is not None:
                    supplied[name] = self._read(reader, name, value)
        return supplied

    def named_in(self, payload: Any) -> dict[str, Any]:
        """What it has parameters for: a condition need not take all that its job takes."""
        if not isinstance(payload, dict):
            return {}
        return {name: value for name, value in payload.items() if self.may_name(name)}

    def _check_names(self, payload: dict[str, Any]) -> None:
        """Name all that is wrong: what is missing was often given by a slip of its name."""
        strange = [name for name in payload if not self.may_name(name)]
        missing = sorted(self._needs - payload.keys())
        wrong = [f"it takes no {_names_of(strange)}"] if strange else []
        wrong += [f"it needs {_names_of(missing)}"] if missing else []
        if wrong:
            raise self._misfit(" and ".join(wrong), field="payload")

    def may_name(self, name: str) -> bool:
        """Whether a payload may have a field of this name."""
        return name in self._takes or (self._takes_others and name != self.run_parameter)

    def _read(self, reader: Reader, name: str, value: Any) -> Any:
        try:
            return reader.read(value)
        except Unfit as unfit:
            raise InvalidPayload(
                f"handler {self.name!r} takes {unfit.wanted} here, not {_short(unfit.value)}",
                field=".".join(("payload", name, *unfit.path)),
                hint=self.parameters_in_words,
            ) from None
        except Exception as error:  # validators of users may raise anything, or recurse too deep
            raise InvalidPayload(
                f"handler {self.name!r} cannot read {_short(value)}:"
                f" {type(error).__name__}: {said(error)[:200]}",
                field=f"payload.{name}",
                hint=self.parameters_in_words,
            ) from error

    def payload(self, *args: Any, **kwargs: Any) -> dict[str, Any] | None:
        """The payload that calls the handler with these arguments."""
        own = [one for name, one in self.signature.parameters.items() if name != self.run_parameter]
        try:
            supplied = (
                self.signature.replace(parameters=own).bind_partial(*args, **kwargs).arguments
            )
        except TypeError as error:
            raise self._misfit(str(error)) from error
        for parameter in own:
            if parameter.kind is inspect.Parameter.VAR_KEYWORD:
                supplied |= supplied.pop(parameter.name, {})
        payload = jsonable(dict(supplied))
        for name, again in self.arguments(payload).items():
            if is_lost(supplied[name], again):
                raise InvalidPayload(
                    f"does not come back from JSON as it was: {_short(supplied[name])}",
                    field=f"payload.{name}",
                    hint="Use a type that neither hides, omits nor renames fields in JSON",
                )
        return payload or None

    def result(self, stored: Any) -> Any:
        """A stored result as the handler returned it; one that does not fit stays JSON."""
        if self._result is None:
            return stored
        try:
            return self._result.read(stored)
        # Of another version of the code, or a note that says why it was not stored.
        except Exception:  # noqa: BLE001 - validators of users may raise anything
            return stored

    @property
    def parameters_in_words(self) -> str:
        """What a payload may name."""
        run = self.signature.parameters.get("run")
        if run is not None and run.annotation is run.empty:
            return f"Its parameters are {self.signature}. To receive the attempt, write run: Run"
        return f"Its parameters are {self.signature}"

    def _misfit(self, why: str, field: str = "") -> InvalidPayload:
        return InvalidPayload(
            f"handler {self.name!r} cannot be called so: {why}",
            field=field,
            hint=self.parameters_in_words,
        )


class Handlers:
    """The handlers of this process. They belong to one project, but for those that are shared."""

    def __init__(self, project: str = DEFAULT) -> None:
        self.project = project
        self._by_name: dict[str, Handler] = {}
        #: What is around every handler, the outermost first.
        self._middleware: list[Middleware] = []

    def add(self, name: str, function: Callable[..., Any], isolation: str = "none") -> Handler:
        """Register a function; one name, one function."""
        return self.register(Handler(name, function, isolation))

    def register(self, handler: Handler) -> Handler:
        """Register a handler that was made before, to see whether it fits."""
        if handler.name in self._by_name:
            raise DuplicateHandler(handler.name)
        self._by_name[handler.name] = handler
        handler.surround(self._middleware)
        return handler

    def adopt(self, function: Callable[..., Any]) -> str:
        """The name of a function that no job declares; one that is new is registered under it."""
        name = getattr(function, "__name__", "")
        if not name.isidentifier():
            raise InvalidJob(
                f"{function!r:.80} has no name of its own",
                field="only_if",
                hint="Use a function that is defined with def",
            )
        known = self._by_name.get(name)
        if known is None or known.function is not function:
            self.add(name, function)
        return name

    def use(self, middleware: Middleware) -> None:
        """Call every handler within this middleware, and that within what came before."""
        check_middleware(middleware)
        self._middleware.append(middleware)
        for handler in self._by_name.values():
            handler.surround(self._middleware)

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


def _isolation(raw: str) -> str:
    if raw not in {"none", "process"}:
        raise InvalidJob(
            f"unknown value {raw!r}", field="isolation", hint='Use "process", or leave it out'
        )
    return raw


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


def _called(function: Any) -> tuple[Callable[..., Any], type | None]:
    """What is called: the function, or the method of a class and the class."""
    if not isinstance(function, type):
        return function, None
    method = inspect.getattr_static(function, "run", None)
    if method is None:
        method = inspect.getattr_static(function, "__call__", None)
    if not inspect.isfunction(method):
        raise InvalidJob(
            f"the class {function.__qualname__} has no method run or __call__",
            field="handler",
            hint="Give it def run(self, …) or async def run(self, …), which gets the arguments",
        )
    return method, function


def _is_async(function: Any) -> bool:
    called = function if inspect.isroutine(function) else type(function).__call__
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(called)


def _without(signature: inspect.Signature, names: set[str]) -> inspect.Signature:
    parameters = signature.parameters.items()
    return signature.replace(parameters=[one for name, one in parameters if name not in names])


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


def _readers(
    handler: str, parameters: Parameters, own: set[str]
) -> tuple[dict[str, Reader], inspect.Signature]:
    """Readers by parameter, and the parameters that are not supplied from elsewhere.

    What no JSON can fill is left to its default, or to the decorator that passes the rest on.
    """
    readers, supplied = dict[str, Reader](), own & parameters.signature.parameters.keys()
    for parameter in parameters.named:
        if parameter.name in own or parameter.name not in parameters.hints:
            continue
        try:
            reader = reader_of(parameters.hints[parameter.name])
        except Foreign as foreign:
            if parameter.default is inspect.Parameter.empty and not parameters.is_passed_on:
                raise _unfillable(handler, parameter.name, foreign) from None
            supplied.add(parameter.name)
        else:
            if reader is not None:
                readers[parameter.name] = reader
    return readers, _without(parameters.signature, supplied)


def _unfillable(handler: str, parameter: str, foreign: Foreign) -> InvalidJob:
    kind = foreign.annotation
    what = kind.__name__ if isinstance(kind, type) and not get_args(kind) else str(kind)
    return InvalidJob(
        f"handler {handler!r} takes {what} as {parameter!r}, which no payload can hold",
        field="handler",
        hint=foreign.hint
        or "Mark what is made for each attempt with Depends(…); for data use a dataclass, a"
        " TypedDict, a pydantic model, or Any",
    )


def _reader_of_others(hints: Mapping[str, Any], signature: inspect.Signature) -> Reader | None:
    """How to read what goes into `**others`."""
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.VAR_KEYWORD and parameter.name in hints:
            return _reader_if_any(hints[parameter.name])
    return None


def _reader_if_any(hint: Any) -> Reader | None:
    try:
        return reader_of(hint)
    except Foreign:
        return None


def _refuse_positional(function: Callable[..., Any], signature: inspect.Signature) -> None:
    for parameter in signature.parameters.values():
        if parameter.kind is inspect.Parameter.POSITIONAL_ONLY:
            name = getattr(function, "__qualname__", repr(function))
            raise InvalidJob(
                f"handler {name!r} has the positional-only parameter"
                f" {parameter.name!r}; payloads are passed by name",
                hint="Remove the / from its parameters",
            )


def _run_parameter(parameters: Parameters) -> str | None:
    """The parameter that wants the `Run`: annotated so, since a name alone may mean anything."""
    names = parameters.signature.parameters
    return next((name for name in names if parameters.hints.get(name) is Run), None)


def _names_of(names: list[str]) -> str:
    return ", ".join(_short(name) for name in names[:_MOST_NAMES])


def _short(value: Any) -> str:
    text = represented(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
