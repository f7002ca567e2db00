"""The parameters of a function as its callers see them, behind decorators, and their types."""

from __future__ import annotations

import builtins
import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from tickwell.executors.run import Run

_NAMED = {inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY}


class Parameters(NamedTuple):
    """What a function takes."""

    signature: inspect.Signature
    #: By name, as far as names of the annotations exist; those that do not stand for anything.
    hints: Mapping[str, Any]
    #: Whether a decorator passes on what it does not know, and may add arguments of its own.
    is_passed_on: bool

    @property
    def named(self) -> list[inspect.Parameter]:
        """Those that can be passed by name."""
        return [each for each in self.signature.parameters.values() if each.kind in _NAMED]


def parameters_of(function: Callable[..., Any]) -> Parameters:
    """What a call of the function takes, which a decorator with `functools.wraps` may change."""
    signature, is_passed_on = _signature(function)
    return Parameters(signature, _hints(function, signature), is_passed_on)


def _signature(function: Any) -> tuple[inspect.Signature, bool]:
    """A decorator's own parameters count; for its `**kwargs` stand those of the function."""
    if isinstance(function, types.MethodType):
        found, is_passed_on = _signature(function.__func__)
        return found.replace(parameters=list(found.parameters.values())[1:]), is_passed_on
    wrapped = getattr(function, "__wrapped__", None)
    if wrapped is None or isinstance(function, type) or hasattr(function, "__signature__"):
        return inspect.signature(function), False
    own = inspect.signature(function, follow_wrapped=False)
    kinds = {each.kind for each in own.parameters.values()}
    if inspect.Parameter.VAR_KEYWORD not in kinds:
        return own, False
    inner, _ = _signature(wrapped)
    named = [each for each in own.parameters.values() if each.kind in _NAMED]
    names = {each.name for each in named}
    rest = [each for each in inner.parameters.values() if each.name not in names]
    # In the order of the function, except that what needs a value cannot follow what does not.
    merged = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in named]
    return inner.replace(parameters=sorted([*rest, *merged], key=lambda each: each.kind)), True


def _hints(function: Any, signature: inspect.Signature) -> Mapping[str, Any]:
    written = {
        name: each.annotation
        for name, each in signature.parameters.items()
        if each.annotation is not inspect.Parameter.empty
    }
    annotated = _annotated(function)
    try:
        hints = typing.get_type_hints(annotated, include_extras=True)
    except Exception:  # noqa: BLE001 - annotations of users may name what is not importable here
        module = sys.modules.get(getattr(annotated, "__module__", None) or "", builtins)
        names = _Names(vars(module))
        return {name: _evaluated(annotation, names) for name, annotation in written.items()}
    if hasattr(function, "__signature__"):  # which may have types of its own
        hints |= {name: kind for name, kind in written.items() if not isinstance(kind, str)}
    return hints


def _annotated(function: Any) -> Any:
    """What has the annotations of a callable."""
    if isinstance(function, functools.partial):
        return _annotated(function.func)
    if isinstance(function, type):
        return vars(function).get("__init__", object.__init__)
    return function if inspect.isroutine(function) else type(function).__call__


class _Names(dict[str, Any]):
    """The names of a module; one that only type checkers import stands for anything."""

    def __missing__(self, name: str) -> Any:
        return Run if name == "Run" else getattr(builtins, name, Any)


def _evaluated(annotation: Any, names: _Names) -> Any:
    if not isinstance(annotation, str):
        return annotation
    try:
        return eval(annotation, {}, names)  # noqa: S307 - as typing.get_type_hints does
    except Exception:  # noqa: BLE001 - annotations of users may be anything
        return annotation
