"""The feed: what happens in a project, told while somebody listens.

Executions are watched in the store, so that it does not matter which process plans and runs them;
changes that people make through this process are told at once. It is a hint, not a record: whoever
falls behind, or comes back, reads again.
"""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from traceback import format_exception
from typing import Any

from tickwell.clock import Clock
from tickwell.domain.event import AttemptsFinished, Event, Events, JobChanged, Revived, projects_of
from tickwell.domain.execution import Execution
from tickwell.errors import LimitReached, NotRunning, StoreError
from tickwell.log import events as lines
from tickwell.ports.records import ExecutionFilter
from tickwell.ports.store import HistoryStore
from tickwell.services.documents import execution_document

#: Listeners in all, in one project, and of one actor there.
MOST, MOST_OF_ONE, MOST_OF_ACTOR = 200, 50, 10
#: Events that wait for one listener; one more, and it is cut off.
BEHIND = 500
#: The newest executions of a project, which are watched.
_WINDOW = 200
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


@dataclass(slots=True, eq=False)
class Subscription:
    """One listener: what waits for it, and whether it is over."""

    project: str
    actor: str
    waiting: deque[FeedEvent] = field(default_factory=deque)
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    closed: bool = False

    def tell(self, event: FeedEvent) -> None:
        """Hand it over; a listener that does not keep up is cut off."""
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


class Feed:
    """Watches the projects that somebody listens to."""

    def __init__(self, store: HistoryStore, clock: Clock, events: Events) -> None:
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

    @property
    def listeners(self) -> int:
        """How many listen."""
        return sum(len(each) for each in self._listeners.values())

    def looked(self, project: str) -> bool:
        """Whether what changes in a project from now on is told."""
        return project in self._looked

    def subscribe(self, project: str, actor: str) -> Subscription:
        """Hear what happens in a project from now on."""
        if self._closed:
            # Who comes back at once would hold up the end of this process.
            raise NotRunning("this process is stopping, and tells nothing more")
        there = self._listeners.get(project, [])
        if len(there) >= MOST_OF_ONE or self.listeners >= MOST:
            raise LimitReached("too many listen to events already", retry_after=30)
        if sum(each.actor == actor for each in there) >= MOST_OF_ACTOR:
            raise LimitReached(
                f"you listen to events {MOST_OF_ACTOR} times already", retry_after=30
            )
        self._listeners[project] = there
        subscription = Subscription(project, actor)
        there.append(subscription)
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

    def tell(self, project: str, type: str, subject: str, data: Any) -> None:
        """Tell all listeners of a project."""
        event = FeedEvent(type=type, subject=subject, time=self.clock.now(), data=data)
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
            self.tell(event.project, f"tickwell.job.{event.action}", f"job/{event.id}", data)
        elif isinstance(event, Revived):
            for id in event.executions:
                self.tell(
                    event.project, "tickwell.execution.revived", f"execution/{id}", {"id": id}
                )
        if self._wakes and isinstance(event, AttemptsFinished):
            for project in projects_of(event) or ():
                if project in self._wakes:
                    self._wakes[project].set()

    async def _watch(self, project: str, wake: asyncio.Event) -> None:
        known: dict[str, tuple[str, int]] | None = None
        nobody, is_failing = asyncio.Event(), False
        while True:
            try:
                known = await self._look(project, known)
                self._looked.add(project)
                is_failing = False
            except StoreError:
                known = None  # it is away: look at all anew when it is back
            except Exception as error:  # noqa: BLE001 - listeners must not wait for nothing
                if not is_failing:
                    lines.FEED_FAILED.log(project=project, error="".join(format_exception(error)))
                known, is_failing = None, True
            await self.clock.wait(nobody, _SOON)
            await self.clock.wait(wake, _LOOK)
            wake.clear()

    async def _look(
        self, project: str, known: dict[str, tuple[str, int]] | None
    ) -> dict[str, tuple[str, int]]:
        where = ExecutionFilter(project=project)
        page = await self.store.list_executions(where, None, _WINDOW)
        found = {each.id: (each.state.value, each.attempt) for each in page.items}
        if known is None:
            return found
        changed = [each for each in page.items if known.get(each.id) != found[each.id]]
        if len(changed) == _WINDOW:
            self.tell(project, "tickwell.stream.gap", "stream", {"read_again": True})
        for each in reversed(changed):
            self._tell_execution(project, each)
        return found

    def _tell_execution(self, project: str, execution: Execution) -> None:
        document = execution_document(execution)
        # What may be large or private is read where rights are checked for it; and no job is looked
        # up for an event.
        for name in ("payload", "result", "job_name"):
            document.pop(name)
        kind = f"tickwell.execution.{execution.state.value}"
        self.tell(project, kind, f"execution/{execution.id}", document)
