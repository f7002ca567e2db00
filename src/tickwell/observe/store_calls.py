"""A store whose operations are timed: for metrics, and for spans where they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from inspect import iscoroutinefunction
from typing import Any

from tickwell.clock import StoreClock
from tickwell.ports.store import Store

#: The operations of the protocol. The life of the store is not timed: opening may migrate.
OPERATIONS = tuple(
    sorted(
        name
        for name in dir(Store)
        if iscoroutinefunction(getattr(Store, name)) and name not in {"open", "close"}
    )
)
SpanFactory = Callable[[str, Sequence[Any]], AbstractContextManager[object]]


@dataclass(frozen=True, slots=True)
class StoreCall:
    """One operation that has come back."""

    operation: str
    seconds: float
    error: BaseException | None
    arguments: tuple[Any, ...]
    answer: Any


Recorder = Callable[[StoreCall], None]


class ObservedStore:
    """Any store; all that is not an operation is the store's own.

    Operations are attributes of the instance: a call then costs one more coroutine,
    and `isinstance` finds what optional protocols ask for (since Python 3.12 not by `__getattr__`).
    """

    #: None: nobody wants to know, and operations are passed on.
    record: Recorder | None
    #: Calls that have not come back, while anybody wants to know.
    under_way: int
    #: Opens the span of an operation, if there is one.
    span: SpanFactory | None

    def __init__(
        self, store: Any, *, record: Recorder | None = None, span: SpanFactory | None = None
    ) -> None:
        own = self.__dict__
        own["store"], own["record"], own["span"] = store, record, span
        own["under_way"] = 0
        own["_monotonic"] = StoreClock().monotonic
        for name in _methods(store):
            own[name] = getattr(store, name)
        for name in OPERATIONS:
            own[name] = self._observed(name, store)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store, name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in self.__dict__:
            self.__dict__[name] = value
        else:
            setattr(self.store, name, value)

    def _observed(self, name: str, store: Any) -> Callable[..., Any]:
        own, monotonic = self.__dict__, self.__dict__["_monotonic"]

        async def observed(*arguments: Any, **options: Any) -> Any:
            record, span = own["record"], own["span"]
            if span is not None:
                with span(name, arguments):
                    return await timed(record, arguments, options)
            if record is None:
                return await getattr(store, name)(*arguments, **options)
            return await timed(record, arguments, options)

        async def timed(record: Recorder | None, arguments: Any, options: Any) -> Any:
            began, error, answer = monotonic(), None, None
            own["under_way"] += 1
            try:
                answer = await getattr(store, name)(*arguments, **options)
            except BaseException as failure:
                error = failure
                raise
            else:
                return answer
            finally:
                own["under_way"] -= 1
                if record is not None:
                    with suppress(Exception):  # what is not counted fails no call that was made
                        record(StoreCall(name, monotonic() - began, error, arguments, answer))

        return observed


def _methods(store: Any) -> list[str]:
    """Public methods, also those of a store that this one stands before."""
    inner = vars(store).get("store") if hasattr(store, "__dict__") else None
    found = {name for name in dir(type(store)) if not name.startswith("_")}
    named = [name for name in sorted(found) if callable(getattr(store, name, None))]
    return named if inner is None else [*_methods(inner), *named]
