"""The feed: what happens in a project, told while somebody listens.

Executions are watched in the store, so that it does not matter which process plans and runs them;
changes that people make through this process are told at once. It is a hint, not a record: a client
that falls behind, or reconnects, reads again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from traceback import format_exception
from typing import Any, NamedTuple, Protocol

from tickwell.clock import Clock
from tickwell.domain.event import (
    LATE,
    AttemptsFinished,
    Event,
    Events,
    FiresSkipped,
    JobChanged,
    Revived,
    projects_of,
)
from tickwell.domain.execution import Execution, Kind, Reason, State
from tickwell.domain.job import BY_POLICY
from tickwell.errors import InvalidInput, LimitReached, NotRunning, StoreError
from tickwell.log import events as lines
from tickwell.ports.records import ExecutionFilter
from tickwell.ports.store import CatalogStore, HistoryStore
from tickwell.services.documents import execution_document, instant_text

#: Listeners in all, in one project, and of one actor there.
MOST, MOST_OF_ONE, MOST_OF_ACTOR = 200, 50, 10
#: Events that wait for one listener; one more, and it is cut off.
BEHIND = 500
#: The newest executions of a project, which are watched.
_WINDOW = 200
#: Milliseconds by which a record may be older than the look before the one that finds it.
_YOUNG = 5_000
#: Looks within which a policy pauses a job after an execution of it died.
_LOOKS = 5
#: Why executions are skipped; what is skipped for other reasons has none.
_OF_EXECUTIONS = frozenset({Reason.OVERLAP, Reason.EXPIRED, Reason.CONDITION})
#: How the types of all events begin.
PREFIX = "tickwell."
#: Seconds between two looks at the store.
_LOOK = 1.0
#: Seconds between looks when this process did something itself.
_SOON = 0.1


@dataclass(slots=True, kw_only=True)
class FeedEvent:
    """One thing that happened."""

    type: str
    subject: str
    time: int
    data: Any
    #: The id of the job that it is about.
    job: str | None = None


@dataclass(frozen=True, slots=True)
class Interest:
    """Which events a listener hears; what is about the stream itself, everybody does."""

    #: Types, or how they begin; none: all.
    types: tuple[str, ...] = ()
    #: The id of the only job to hear of; None: all.
    job: str | None = None

    @classmethod
    def of(cls, types: Collection[str], known: Collection[str], job: str | None) -> Interest:
        """Refuse a type that no event has."""
        chosen = tuple(each.removeprefix(PREFIX) for each in types)
        for each in chosen:
            if not any(_begins(name, each) for name in known):
                raise InvalidInput(
                    f"no event has the type {each[:80]!r}",
                    field="type",
                    hint=f"Use one of {', '.join(known)}, or what some of them begin with",
                )
        return cls(chosen, job)

    def covers(self, event: FeedEvent) -> bool:
        """Whether the listener hears of it."""
        type = event.type.removeprefix(PREFIX)
        if type.startswith("stream."):
            return True
        if self.job is not None and event.job != self.job:
            return False
        return not self.types or any(_begins(type, each) for each in self.types)


ALL = Interest()


@dataclass(slots=True, eq=False)
class Subscription:
    """One listener: what waits for it, and whether it is over."""

    project: str
    actor: str
    interest: Interest = ALL
    waiting: deque[FeedEvent] = field(default_factory=deque)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    closed: bool = False

    def tell(self, event: FeedEvent) -> None:
        """Hand it over if it is wanted; a listener that does not keep up is cut off."""
        if not self.interest.covers(event):
            return
        if len(self.waiting) >= BEHIND:
            self.close()
        elif not self.closed:
            self.waiting.append(event)
            self.wake.set()

    def close(self) -> None:
        """Tell it nothing more."""
        self.closed = True
        self.waiting.clear()
        self.wake.set()


class _Known(NamedTuple):
    """What was seen of an execution: a change of it is told."""

    state: str
    attempt: int
    #: Its attempt started late.
    is_late: bool


@dataclass(slots=True)
class _Seen:
    """What one look found."""

    at: int
    states: dict[str, _Known]
    #: Jobs of which an execution died, and for how many looks more their pause may follow.
    failing: dict[str, int] = field(default_factory=dict)


class FeedStore(HistoryStore, CatalogStore, Protocol):
    """What the feed reads."""


class Feed:
    """Watches the projects that somebody listens to."""

    def __init__(self, store: FeedStore, clock: Clock, events: Events) -> None:
        self.store = store
        self.clock = clock
        self.events = events
        self._listeners: dict[str, list[Subscription]] = {}
        self._watches: dict[str, asyncio.Task[None]] = {}
        #: Projects whose present state is known, so that a change is seen.
        self._looked: set[str] = set()
        #: By project: what happens in one wakes no look at another.
        self._wakes: dict[str, asyncio.Event] = {}
        self._closed = False
        self._deaf = events.subscribe(self._hear, also={JobChanged, Revived})
        #: Asked for while somebody listens: planners look for them then.
        self._deaf_to_skips: Callable[[], None] | None = None

    @property
    def listeners(self) -> int:
        """How many listen."""
        return sum(len(each) for each in self._listeners.values())

    def looked(self, project: str) -> bool:
        """Whether what changes in a project from now on is told."""
        return project in self._looked

    def subscribe(self, project: str, actor: str, interest: Interest = ALL) -> Subscription:
        """Hear what happens in a project from now on."""
        if self._closed:
            # Who comes back at once would hold up the end of this process.
            raise NotRunning("this process is stopping and sends no more events")
        there = self._listeners.get(project, [])
        if len(there) >= MOST_OF_ONE or self.listeners >= MOST:
            raise LimitReached("too many event streams are open already", retry_after=30)
        if sum(each.actor == actor for each in there) >= MOST_OF_ACTOR:
            raise LimitReached(
                f"you have {MOST_OF_ACTOR} event streams open already", retry_after=30
            )
        self._listeners[project] = there
        subscription = Subscription(project, actor, interest)
        there.append(subscription)
        if self._deaf_to_skips is None:
            self._deaf_to_skips = self.events.subscribe(self._hear_skips, also={FiresSkipped})
        if project not in self._watches:
            wake = self._wakes[project] = asyncio.Event()
            self._watches[project] = asyncio.create_task(self._watch(project, wake))
        return subscription

    def unsubscribe(self, subscription: Subscription) -> None:
        """Hear no more; nobody left, nobody watches."""
        subscription.close()
        there = self._listeners.get(subscription.project, [])
        if subscription in there:
            there.remove(subscription)
        if not there:
            self._listeners.pop(subscription.project, None)
            self._looked.discard(subscription.project)
            self._wakes.pop(subscription.project, None)
            watch = self._watches.pop(subscription.project, None)
            if watch is not None:
                watch.cancel()
        if not self._listeners and self._deaf_to_skips is not None:
            self._deaf_to_skips()
            self._deaf_to_skips = None

    def tell(
        self, project: str, type: str, subject: str, data: Any, *, job: str | None = None
    ) -> None:
        """Tell all listeners of a project."""
        event = FeedEvent(type=type, subject=subject, time=self.clock.now(), data=data, job=job)
        for subscription in self._listeners.get(project, ()):
            subscription.tell(event)

    def close(self) -> None:
        """End every subscription, and begin none."""
        self._closed = True
        self._deaf()
        self._deaf = lambda: None
        for there in list(self._listeners.values()):
            for subscription in list(there):
                self.unsubscribe(subscription)

    def _hear(self, event: Event) -> None:
        if isinstance(event, JobChanged):
            data = {"name": event.job, "by": event.by, "why": event.why}
            self._tell_job(event.project, event.action, event.id, data)
        elif isinstance(event, Revived):
            for id in event.executions:
                self.tell(
                    event.project, "tickwell.execution.revived", f"execution/{id}", {"id": id}
                )
        if self._wakes and isinstance(event, AttemptsFinished):
            for project in projects_of(event) or ():
                if project in self._wakes:
                    self._wakes[project].set()

    def _hear_skips(self, event: Event) -> None:
        """Fire times that no execution answers; skipped executions are seen in the store."""
        if not isinstance(event, FiresSkipped):
            return
        for job, skip in event.skips:
            if skip.reason not in _OF_EXECUTIONS:
                data = {
                    "name": job.name,
                    "reason": skip.reason.value,
                    "first": instant_text(skip.first),
                    "last": instant_text(skip.last),
                    "count": skip.count,
                }
                self._tell_job(job.project, "skipped", job.id, data)

    def _tell_job(self, project: str, action: str, id: str, data: Any) -> None:
        self.tell(project, f"{PREFIX}job.{action}", f"job/{id}", data, job=id)

    async def _watch(self, project: str, wake: asyncio.Event) -> None:
        seen: _Seen | None = None
        nobody, is_failing = asyncio.Event(), False
        while True:
            try:
                seen = await self._look(project, seen)
                self._looked.add(project)
                is_failing = False
            except StoreError:
                seen = None  # it is away: look at all anew when it is back
            except Exception as error:  # noqa: BLE001 - listeners must not wait for nothing
                if not is_failing:
                    lines.FEED_FAILED.log(project=project, error="".join(format_exception(error)))
                seen, is_failing = None, True
            await self.clock.wait(nobody, _SOON)
            await self.clock.wait(wake, _LOOK)
            wake.clear()

    async def _look(self, project: str, before: _Seen | None) -> _Seen:
        now = self.clock.now()
        page = await self.store.list_executions(ExecutionFilter(project=project), None, _WINDOW)
        seen = _Seen(now, {each.id: _state_of(each) for each in page.items})
        if before is None:
            return seen
        changed = [
            each for each in page.items if before.states.get(each.id) != seen.states[each.id]
        ]
        if len(changed) == _WINDOW:
            self.tell(project, "tickwell.stream.gap", "stream", {"read_again": True})
        for each in reversed(changed):
            self._tell_execution(each, before)
        seen.failing = {job: left - 1 for job, left in before.failing.items() if left > 1}
        seen.failing |= {each.job_id: _LOOKS for each in changed if each.state is State.DEAD}
        await self._tell_pauses(project, seen, before.at)
        return seen

    def _tell_execution(self, execution: Execution, before: _Seen) -> None:
        document = execution_document(execution)
        # What may be large or private is read where rights are checked for it; and no job is looked
        # up for an event.
        for name in ("payload", "result", "job_name"):
            document.pop(name)
        known, kinds = before.states.get(execution.id), [execution.state.value]
        if known is None and execution.created_at > before.at - _YOUNG:
            kinds.insert(0, "fired" if execution.kind is Kind.FIRE else "requested")
        was_late = known is not None and known.attempt == execution.attempt and known.is_late
        if _state_of(execution).is_late and not was_late:
            kinds.append("late")
        if known is not None and known.state == execution.state.value and kinds[-1:] == ["late"]:
            kinds = ["late"]  # nothing else changed
        for kind in kinds:
            self.tell(
                execution.project,
                f"{PREFIX}execution.{kind}",
                f"execution/{execution.id}",
                document,
                job=execution.job_id,
            )

    async def _tell_pauses(self, project: str, seen: _Seen, since: int) -> None:
        """Whom a policy has paused, in whichever process: shortly after an execution died."""
        if not seen.failing:
            return
        for entry in await self.store.get_jobs(project, list(seen.failing)):
            pause = entry.cursor.pause
            if pause is None or pause.by != BY_POLICY:
                continue
            del seen.failing[entry.job.id]
            if pause.since > since - _YOUNG:
                data = {"name": entry.job.name, "by": pause.by, "why": pause.why}
                self._tell_job(project, "paused", entry.job.id, data)


def _begins(type: str, wanted: str) -> bool:
    return type == wanted or type.startswith(f"{wanted}.")


def _state_of(execution: Execution) -> _Known:
    started = execution.started_at
    is_late = started is not None and started - execution.run_at >= LATE
    return _Known(execution.state.value, execution.attempt, is_late)
