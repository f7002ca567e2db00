"""Dependencies: what an attempt's handler is given besides its payload, and closed after it."""

from __future__ import annotations

import functools
import inspect
import typing
from collections.abc import Callable, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    AbstractContextManager,
    AsyncExitStack,
    ExitStack,
    asynccontextmanager,
    contextmanager,
)
from dataclasses import dataclass
from enum import Enum, auto
from typing import Any

from tickwell.errors import InvalidJob
from tickwell.executors.around.signature import Parameters, parameters_of
from tickwell.executors.run import Run

#: In the arguments of a factory: the attempt's `Run`.
_RUN = -1


@dataclass(frozen=True, slots=True)
class Dependency:
    """The mark on a parameter. FastAPI's own has the same two fields, and is understood as well."""

    dependency: Callable[..., Any] | None = None
    use_cache: bool = True


def Depends(  # noqa: N802 - as FastAPI spells it
    factory: Callable[..., Any] | None = None, *, use_cache: bool = True
) -> Any:
    """Mark a parameter of a handler: its value is made by the factory for each attempt.

    A factory is a function, a class, a generator that yields once, or a context manager, plain or
    async; its own parameters may be marked as well. What it opened is closed after the attempt.
    Without a factory, the class that the parameter is annotated with makes it.
    """
    return Dependency(factory, use_cache)


class Kind(Enum):
    """How a factory makes its value."""

    CALLED = auto()
    AWAITED = auto()
    ENTERED = auto()
    ENTERED_ASYNC = auto()


_ASYNC = frozenset({Kind.AWAITED, Kind.ENTERED_ASYNC})


@dataclass(frozen=True, slots=True)
class Step:
    """One value to be made: by which factory, and which earlier values it takes."""

    make: Callable[..., Any]
    kind: Kind
    #: By parameter: the number of the step whose value it gets.
    takes: Mapping[str, int]


class Dependencies:
    """What a handler's marked parameters need, in the order in which it is made."""

    def __init__(self, steps: list[Step], takes: Mapping[str, int]) -> None:
        self.steps = steps
        #: By parameter of the handler: the number of the step whose value it gets.
        self.takes = takes
        self.is_async = any(step.kind in _ASYNC for step in steps)

    def call(
        self,
        function: Callable[..., Any],
        arguments: Mapping[str, Any],
        run: Run,
        wait: Callable[[Any], Any],
    ) -> Any:
        """Call a plain function; `wait` awaits what async factories need."""
        failure: BaseException | None = None
        with ExitStack() as stack:
            values = list[Any]()
            try:
                for step in self.steps:
                    values.append(_make(step, _given(step.takes, values, run), stack, wait))
                return function(**arguments, **_given(self.takes, values, run))
            except BaseException as error:
                failure = error
                raise
        raise _unswallowed(failure)

    async def call_async(
        self, function: Callable[..., Any], arguments: Mapping[str, Any], run: Run
    ) -> Any:
        """Call an async function."""
        failure: BaseException | None = None
        async with AsyncExitStack() as stack:
            values = list[Any]()
            try:
                for step in self.steps:
                    values.append(await _make_async(step, _given(step.takes, values, run), stack))
                return await function(**arguments, **_given(self.takes, values, run))
            except BaseException as error:
                failure = error
                raise
        raise _unswallowed(failure)


def _unswallowed(failure: BaseException | None) -> BaseException:
    """A factory that catches the handler's error cleans up; it does not make it a success."""
    return failure or RuntimeError("a dependency ended the attempt")


def _given(takes: Mapping[str, int], values: list[Any], run: Run) -> dict[str, Any]:
    return {name: run if step == _RUN else values[step] for name, step in takes.items()}


def _make(
    step: Step, arguments: dict[str, Any], stack: ExitStack, wait: Callable[[Any], Any]
) -> Any:
    made = step.make(**arguments)
    if step.kind is Kind.ENTERED:
        return stack.enter_context(made)
    if step.kind is Kind.AWAITED:
        return wait(made) if inspect.isawaitable(made) else made
    return stack.enter_context(_waited(made, wait)) if step.kind is Kind.ENTERED_ASYNC else made


@contextmanager
def _waited(manager: AbstractAsyncContextManager[Any], wait: Callable[[Any], Any]) -> Iterator[Any]:
    """An async context manager in a plain function, entered and left in the event loop."""
    value = wait(manager.__aenter__())
    try:
        yield value
    except BaseException as error:
        if not wait(manager.__aexit__(type(error), error, error.__traceback__)):
            raise
    else:
        wait(manager.__aexit__(None, None, None))


async def _make_async(step: Step, arguments: dict[str, Any], stack: AsyncExitStack) -> Any:
    made = step.make(**arguments)
    if step.kind is Kind.AWAITED:
        return await made if inspect.isawaitable(made) else made
    if step.kind is Kind.ENTERED_ASYNC:
        return await stack.enter_async_context(made)
    return stack.enter_context(made) if step.kind is Kind.ENTERED else made


def dependencies_of(
    name: str, parameters: Parameters, owner: type | None = None
) -> Dependencies | None:
    """What the marked parameters of a handler need; None if there is none.

    The first parameter of a method is an object of its class, made like a dependency.
    """
    plan = _Plan(f"handler {name!r}")
    takes = dict[str, int]()
    for parameter in parameters.signature.parameters.values():
        hint = parameters.hints.get(parameter.name)
        mark = Dependency(owner) if owner and not takes else mark_of(parameter, hint)
        if mark is not None:
            takes[parameter.name] = plan.step_for(mark, parameter.name, hint, plan.name, ())
    return Dependencies(plan.steps, takes) if takes else None


def mark_of(parameter: inspect.Parameter, hint: Any) -> Dependency | None:
    """The mark on a parameter, as its default or in its `Annotated`; None: it has none."""
    extras = hint.__metadata__ if typing.get_origin(hint) is typing.Annotated else ()
    for each in (parameter.default, *reversed(extras)):
        if hasattr(each, "dependency") and hasattr(each, "use_cache"):
            return Dependency(each.dependency, each.use_cache)
    return None


class _Plan:
    """Steps, each after those that it needs."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.steps: list[Step] = []
        self._cached: dict[Any, int] = {}

    def step_for(
        self, mark: Dependency, parameter: str, hint: Any, whose: str, within: tuple[Any, ...]
    ) -> int:
        factory = mark.dependency or _annotated(hint)
        if not callable(factory):
            raise _refused(
                f"{whose} has the parameter {parameter!r}, which depends on {factory!r}",
                "Name what makes it: Depends(open_session)",
            )
        if factory in within:
            raise _refused(f"{_name(factory)} depends on itself", "Break the circle")
        if mark.use_cache and factory in self._cached:
            return self._cached[factory]
        takes = self._takes(factory, (*within, factory))
        made, kind = _kind(factory)
        self.steps.append(Step(made, kind, takes))
        number = len(self.steps) - 1
        if mark.use_cache:
            self._cached[factory] = number
        return number

    def _takes(self, factory: Callable[..., Any], within: tuple[Any, ...]) -> dict[str, int]:
        """What a factory is given: the attempt's `Run`, and dependencies of its own."""
        try:
            parameters = parameters_of(factory)
        except (TypeError, ValueError):  # a builtin that tells nothing about itself
            return {}
        takes, whose = dict[str, int](), f"the dependency {_name(factory)} of {self.name}"
        for parameter in parameters.signature.parameters.values():
            hint, known = parameters.hints.get(parameter.name), parameter in parameters.named
            mark = mark_of(parameter, hint) if known else None
            if mark is not None:
                takes[parameter.name] = self.step_for(mark, parameter.name, hint, whose, within)
            elif known and hint is Run:
                takes[parameter.name] = _RUN
            elif _needs_a_value(parameter) or _is_of_a_request(parameter, hint):
                raise _refused(
                    f"{whose} needs {parameter.name!r}, which a job cannot supply",
                    "Mark it with Depends(…), annotate it with Run, or give it a default",
                )
        return takes


def _annotated(hint: Any) -> Any:
    return typing.get_args(hint)[0] if typing.get_origin(hint) is typing.Annotated else hint


def _needs_a_value(parameter: inspect.Parameter) -> bool:
    several = {inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD}
    return parameter.default is inspect.Parameter.empty and parameter.kind not in several


def _is_of_a_request(parameter: inspect.Parameter, hint: Any) -> bool:
    """Whether FastAPI takes it from a request: a header, a query, a body."""
    marks = (parameter.default, *getattr(hint, "__metadata__", ()))
    return any(type(each).__module__.startswith("fastapi.") for each in marks)


def _kind(factory: Callable[..., Any]) -> tuple[Callable[..., Any], Kind]:
    """How a factory makes its value; of a generator, the context manager that it is the body of."""
    if isinstance(factory, type):
        return factory, _kind_of_class(factory)
    is_function = inspect.isroutine(factory) or isinstance(factory, functools.partial)
    called = factory if is_function else type(factory).__call__
    if inspect.isasyncgenfunction(called):
        return asynccontextmanager(factory), Kind.ENTERED_ASYNC
    if inspect.isgeneratorfunction(called):
        return contextmanager(factory), Kind.ENTERED
    return factory, _kind_of_body(inspect.unwrap(called))


def _kind_of_class(factory: type) -> Kind:
    if issubclass(factory, AbstractAsyncContextManager):
        return Kind.ENTERED_ASYNC
    return Kind.ENTERED if issubclass(factory, AbstractContextManager) else Kind.CALLED


def _kind_of_body(body: Callable[..., Any]) -> Kind:
    """By what `@contextmanager` and other decorators were put on."""
    if inspect.iscoroutinefunction(body):
        return Kind.AWAITED
    if inspect.isasyncgenfunction(body):
        return Kind.ENTERED_ASYNC
    return Kind.ENTERED if inspect.isgeneratorfunction(body) else Kind.CALLED


def _name(factory: Any) -> str:
    return getattr(factory, "__qualname__", None) or repr(factory)


def _refused(reason: str, hint: str) -> InvalidJob:
    return InvalidJob(reason, field="handler", hint=hint)
