"""Hooks: functions of the user that are called at a start, a stop, a rest, an error, any event."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any, Literal, get_args

from tickwell.domain.event import (
    AttemptsFinished,
    Event,
    Events,
    Idle,
    ListenerFailed,
    Started,
    StepFailed,
    Stopped,
)
from tickwell.domain.execution import OutcomeKind
from tickwell.errors import InvalidInput

#: Seconds that async hooks get to end when the scheduler stops.
PATIENCE = 10.0

What = Literal["start", "stop", "idle", "error", "event"]
Hook = Callable[..., object]
_Chooser = Callable[[Event], Event | None]

_FAILED = frozenset({OutcomeKind.FAILED, OutcomeKind.TIMED_OUT, OutcomeKind.LOST})


class Hooks:
    """Calls hooks with the event they wait for, or without if they take nothing."""

    def __init__(self, events: Events) -> None:
        self.events = events
        #: Where async hooks run: the loop of the engine.
        self.loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def add(self, what: What | type[Event], hook: Hook) -> Callable[[], None]:
        """Call the hook from now on; call what is returned to call it no more."""
        choose, takes_event = _chooser(what), _takes_event(hook)

        def hear(event: Event) -> None:
            chosen = choose(event)
            if chosen is None:
                return
            result = hook(chosen) if takes_event else hook()
            if inspect.isawaitable(result):
                self._run(result, hook)

        hear.__qualname__ = _name(hook)
        return self.events.subscribe(hear)

    def settle_in(self) -> None:
        """Run async hooks in this event loop."""
        self.loop, self._thread = asyncio.get_running_loop(), threading.get_ident()

    async def settle(self) -> None:
        """Let async hooks end."""
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=PATIENCE)

    def _run(self, work: Awaitable[object], hook: Hook) -> None:
        """Start it in the loop; some events come from the pulse's thread."""
        if self.loop is None or self.loop.is_closed():
            return
        if threading.get_ident() == self._thread:
            self._start(self._awaited(work, hook))
        else:
            self.loop.call_soon_threadsafe(self._start, self._awaited(work, hook))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _awaited(self, work: Awaitable[object], hook: Hook) -> None:
        try:
            await work
        except Exception as error:  # noqa: BLE001 - whatever it is, it is the hook's
            self.events.emit(ListenerFailed(listener=_name(hook), error=error))


def _chooser(what: What | type[Event]) -> _Chooser:
    if isinstance(what, type) and issubclass(what, get_args(Event)):
        return lambda event: event if isinstance(event, what) else None
    named: dict[object, _Chooser] = {
        "start": lambda event: event if isinstance(event, Started) else None,
        "stop": lambda event: event if isinstance(event, Stopped) else None,
        "idle": lambda event: event if isinstance(event, Idle) else None,
        "error": _errors,
        "event": lambda event: event,
    }
    if what not in named:
        raise InvalidInput(
            f"{what!r} is nothing that a hook can wait for",
            field="on",
            hint=f"Known are {', '.join(get_args(What))}, and the classes of events",
        )
    return named[what]


def _errors(event: Event) -> Event | None:
    """What went wrong: a step of the engine, a listener, or attempts, and of these only them."""
    if isinstance(event, StepFailed | ListenerFailed):
        return event
    if isinstance(event, AttemptsFinished):
        failed = [report for report in event.reports if report.outcome in _FAILED]
        return replace(event, reports=failed) if failed else None
    return None


def _takes_event(hook: Hook) -> bool:
    try:
        return bool(inspect.signature(hook).parameters)
    except (TypeError, ValueError):  # a builtin that tells nothing about itself
        return True


def _name(hook: Hook) -> str:
    return getattr(hook, "__qualname__", repr(hook))
