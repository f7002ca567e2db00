"""Hooks: functions of the user that are called at a start, a stop, a rest, an error, any event."""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable, Coroutine
from dataclasses import replace
from typing import Any, Literal, get_args

from tickwell.domain import event as inner
from tickwell.domain.event import (
    LATE,
    ON_REQUEST,
    AttemptsFinished,
    Events,
    Idle,
    JobChanged,
    JobOver,
    JobPaused,
    ListenerFailed,
    Started,
    StepFailed,
    Stopped,
)
from tickwell.domain.execution import OutcomeKind, State
from tickwell.errors import InvalidInput
from tickwell.events import Event, Listener, engine_class, public_event

#: Seconds that async hooks get to end when the scheduler stops.
PATIENCE = 10.0

What = Literal[
    "start",
    "stop",
    "idle",
    "error",
    "event",
    "fired",
    "skipped",
    "started",
    "late",
    "finished",
    "dead",
    "revived",
    "paused",
    "edited",
]
Hook = Callable[..., object]
_Chooser = Callable[[inner.Event], inner.Event | None]

_FAILED = frozenset({OutcomeKind.FAILED, OutcomeKind.TIMED_OUT, OutcomeKind.LOST})


class Hooks:
    """Calls hooks with the event they wait for, or without if they take nothing."""

    def __init__(self, events: Events) -> None:
        self.events = events
        #: Where async hooks run: the loop of the engine.
        self.loop: asyncio.AbstractEventLoop | None = None
        self._thread = 0
        self._tasks: set[asyncio.Task[None]] = set()

    def add(
        self, what: What | type[Event], hook: Hook, job: str | None = None
    ) -> Callable[[], None]:
        """Call the hook from now on; call what is returned to call it no more.

        With a job it is called for this job's events only.
        """
        choose, takes_event = _chooser(what), _takes_event(hook)
        if job is not None and not _names_jobs(what):
            raise InvalidInput(
                f"an event {what if isinstance(what, str) else what.__name__!r} names no job",
                field="job",
                hint="Leave the job out, and look at the event",
            )

        def hear(event: inner.Event) -> None:
            chosen = choose(event)
            if chosen is not None and job is not None:
                chosen = about(chosen, job)
            if chosen is None:
                return
            result = hook(public_event(chosen)) if takes_event else hook()
            if inspect.isawaitable(result):
                self._run(result, hook)

        hear.__qualname__ = _name(hook)
        return self.events.subscribe(hear, also=_also(what))

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        """Call the listener with every event; call what is returned to call it no more."""

        def hear(event: inner.Event) -> None:
            listener(public_event(event))

        hear.__qualname__ = _name(listener)
        return self.events.subscribe(hear, also=ON_REQUEST)

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


def check_event(what: What | type[Event]) -> None:
    """Refuse what no hook can wait for, before the hook is seen."""
    _chooser(what)


def about(event: inner.Event, job: str) -> inner.Event | None:
    """What of an event is about a job; None: nothing."""
    if isinstance(event, _OF_ONE_JOB):
        return event if event.job == job else None
    for kind, field, name in _PARTS:
        if isinstance(event, kind):
            parts = [part for part in getattr(event, field) if name(part) == job]
            return replace(event, **{field: parts}) if parts else None
    return None


#: Events about several jobs: the field that has a part for each, and whose job a part names.
_PARTS: tuple[tuple[Any, str, Callable[[Any], str]], ...] = (
    (inner.Triggered, "executions", lambda new: str(new.job.name)),
    (inner.AttemptsStarted, "starts", lambda start: str(start.claim.job.name)),
    (inner.FiresSkipped, "skips", lambda skip: str(skip[0].name)),
    (AttemptsFinished, "reports", lambda report: str(report.claim.job.name)),
    (inner.AttemptsFenced, "reports", lambda report: str(report.claim.job.name)),
    (inner.Recovered, "reports", lambda report: str(report.claim.job.name)),
)


_OF_ONE_JOB = JobChanged, JobPaused, JobOver


def _names_jobs(what: What | type[Event]) -> bool:
    """Whether its events tell which jobs they are about."""
    if isinstance(what, type):
        return engine_class(what) in {*_OF_ONE_JOB, *(kind for kind, _, _ in _PARTS)}
    return what not in {"start", "stop", "idle", "revived"}


def _also(what: What | type[Event]) -> frozenset[type]:
    """Kinds of events that are made only because this is asked for."""
    if isinstance(what, type):
        return ON_REQUEST & {engine_class(what)}
    return ON_REQUEST if what == "event" else _NEEDS.get(what, frozenset())


_NEEDS: dict[str, frozenset[type]] = {
    "skipped": frozenset({inner.FiresSkipped}),
    "started": frozenset({inner.AttemptsStarted}),
    "late": frozenset({inner.AttemptsStarted}),
    "revived": frozenset({inner.Revived}),
    "paused": frozenset({JobChanged}),
    "edited": frozenset({JobChanged}),
}


def _chooser(what: What | type[Event]) -> _Chooser:
    if inspect.isroutine(what):
        raise InvalidInput(
            f"the function {_name(what)!r} is not an event",
            field="on",
            hint='Write @scheduler.on("error"), with an event in parentheses, above it',
        )
    if isinstance(what, type) and issubclass(what, get_args(Event)):
        kind = engine_class(what)
        return lambda event: event if isinstance(event, kind) else None
    named: dict[object, _Chooser] = {
        "start": lambda event: event if isinstance(event, Started) else None,
        "stop": lambda event: event if isinstance(event, Stopped) else None,
        "idle": lambda event: event if isinstance(event, Idle) else None,
        "error": _errors,
        "event": lambda event: event,
        "fired": lambda event: event if isinstance(event, inner.Triggered) else None,
        "skipped": lambda event: event if isinstance(event, inner.FiresSkipped) else None,
        "started": lambda event: event if isinstance(event, inner.AttemptsStarted) else None,
        "late": _late,
        "finished": _finished,
        "dead": _dead,
        "revived": lambda event: event if isinstance(event, inner.Revived) else None,
        "paused": _paused,
        "edited": lambda event: _changed(event, "edited"),
    }
    if what not in named:
        raise InvalidInput(
            f"unknown event {what!r}",
            field="on",
            hint=f"Use one of {', '.join(get_args(What))}, or a class of tickwell.events",
        )
    return named[what]


def _errors(event: inner.Event) -> inner.Event | None:
    """What went wrong: a step of the engine, a listener, or attempts, and of these only them."""
    if isinstance(event, StepFailed | ListenerFailed):
        return event
    if isinstance(event, AttemptsFinished | inner.Recovered):
        failed = [report for report in event.reports if report.outcome in _FAILED]
        return replace(event, reports=failed) if failed else None
    return None


def _late(event: inner.Event) -> inner.Event | None:
    if not isinstance(event, inner.AttemptsStarted):
        return None
    late = [one for one in event.starts if one.started_at - one.claim.run_at >= LATE]
    return replace(event, starts=late) if late else None


def _finished(event: inner.Event) -> inner.Event | None:
    """Attempts that ended; a fire that its condition denied is told of as skipped."""
    if not isinstance(event, AttemptsFinished | inner.Recovered):
        return None
    ended = [report for report in event.reports if report.state is not State.SKIPPED]
    return replace(event, reports=ended) if ended else None


def _dead(event: inner.Event) -> inner.Event | None:
    if not isinstance(event, AttemptsFinished | inner.Recovered):
        return None
    dead = [report for report in event.reports if report.state is State.DEAD]
    return replace(event, reports=dead) if dead else None


def _paused(event: inner.Event) -> inner.Event | None:
    return event if isinstance(event, JobPaused) else _changed(event, "paused")


def _changed(event: inner.Event, action: str) -> inner.Event | None:
    return event if isinstance(event, JobChanged) and event.action == action else None


def _takes_event(hook: Hook) -> bool:
    try:
        return bool(inspect.signature(hook).parameters)
    except (TypeError, ValueError):  # a builtin that tells nothing about itself
        return True


def _name(hook: Hook) -> str:
    return getattr(hook, "__qualname__", repr(hook))
