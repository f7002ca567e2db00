"""Maintenance windows: times at which jobs do not fire, of one project or of all. Pure.

A window is a trigger and a duration; one that comes a single time has a trigger that fires once.
Each of its times begins with a fire of the trigger, and ends, exclusive, after the duration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from tickwell.domain.job import Job
from tickwell.domain.policy import DAY
from tickwell.domain.project_pause import EVERYTHING
from tickwell.domain.trigger import Once, Trigger, trigger_from_document, trigger_to_document

#: The kind of the records, which belong to the platform, under the project and the name.
MAINTENANCE_KIND = "maintenance"
#: Milliseconds that a window which is over stays on record: a planner that comes back late still
#: answers by it, and slots say which one it was.
KEPT = 30 * DAY
#: Times of windows that are looked at to find whether a job had a chance to run.
_MOST_SPANS = 1_000


@dataclass(frozen=True, slots=True)
class Span:
    """One time of a window."""

    start: int
    #: Exclusive.
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class MaintenanceWindow:
    """When the jobs that it covers do not fire, and why."""

    #: `EVERYTHING` for all of them.
    project: str
    #: Unique in the project.
    name: str
    trigger: Trigger
    #: Milliseconds.
    duration: int
    #: Jobs with one of these; none: with any or none.
    tags: tuple[str, ...] = ()
    #: Jobs of one of these; none: of any.
    queues: tuple[str, ...] = ()
    why: str = ""
    by: str
    #: When it was saved, or ended early.
    changed_at: int
    #: The time that was on then ended early.
    ended_at: int | None = None

    @property
    def key(self) -> str:
        """Of its record."""
        return window_key(self.project, self.name)

    @property
    def recurs(self) -> bool:
        """Whether it is more than a single time."""
        return not isinstance(self.trigger, Once)

    def covers(self, project: str, queue: str | None, tags: Sequence[str]) -> bool:
        """Whether a job is one that it is about."""
        return self.project in {EVERYTHING, project} and self.selects(queue, tags)

    def selects(self, queue: str | None, tags: Sequence[str]) -> bool:
        """Whether it is about jobs of this queue with these tags, in its projects."""
        return (not self.queues or queue in self.queues) and (
            not self.tags or not {*self.tags}.isdisjoint(tags)
        )

    def span(self, instant: int) -> Span | None:
        """The first of its times that ends later than the instant; None: all are over."""
        return next(self.spans(instant), None)

    def spans(self, instant: int) -> Iterator[Span]:
        """Its times that end later than the instant, in order."""
        start = self.trigger.after(instant - self.duration)
        while start is not None:
            end = start + self.duration
            if self.ended_at is not None and start <= self.ended_at < end:
                end = self.ended_at
            if end > instant and end > start:
                yield Span(start, end)
            start = self.trigger.after(start)

    def is_on(self, instant: int) -> bool:
        """Whether the instant is in one of its times."""
        span = self.span(instant)
        return span is not None and span.start <= instant


def window_key(project: str, name: str) -> str:
    """The key of a record; no project has a slash in its name."""
    return f"{project}/{name}"


class Closed:
    """Whether fire times lie in windows: asked in the order of time, at the cost of few searches.

    Between two searches it remembers the time of each window that was found last.
    """

    def __init__(self, windows: Sequence[MaintenanceWindow]) -> None:
        self.windows = windows
        self._known: dict[str, tuple[int, Span | None]] = {}

    def of(self, job: Job) -> Callable[[int], bool] | None:
        """For one job; None: no window covers it."""
        covering = [each for each in self.windows if each.covers(job.project, job.queue, job.tags)]
        if not covering:
            return None
        return lambda fire_time: any(self._is_in(each, fire_time) for each in covering)

    def _is_in(self, window: MaintenanceWindow, instant: int) -> bool:
        asked, span = self._known.get(window.key, (instant + 1, None))
        if instant < asked or (span is not None and span.end <= instant):
            asked, span = instant, window.span(instant)
            self._known[window.key] = asked, span
        return span is not None and span.start <= instant < span.end


def covering_at(
    windows: Iterable[MaintenanceWindow], job: Job, instant: int
) -> MaintenanceWindow | None:
    """The window that a job is in at an instant."""
    return next(
        (
            each
            for each in windows
            if each.covers(job.project, job.queue, job.tags) and each.is_on(instant)
        ),
        None,
    )


def expected_since(
    windows: Sequence[MaintenanceWindow],
    trigger: Trigger,
    since: int,
    now: int,
    due: Callable[[int], int],
) -> int:
    """From when on a success is waited for that was expected since an instant.

    Where all fire times until it was due lay in windows, the job had no chance: it is given the
    time anew, from the end of the last of them. `due` says when that is over.
    """
    for _ in range(_MOST_SPANS):
        deadline = due(since)
        if deadline > now:
            break
        end = _chance_from(windows, trigger, since, deadline)
        if end is None:
            break
        since = min(end, now)
    return since


def _chance_from(
    windows: Sequence[MaintenanceWindow], trigger: Trigger, since: int, until: int
) -> int | None:
    """Where the windows end that all fire times in the range lie in; None: one lies in none."""
    end = None
    fire = trigger.after(since)
    for _ in range(_MOST_SPANS):
        if fire is None or fire > until:
            break
        spans = [each.span(fire) for each in windows]
        ends = [each.end for each in spans if each is not None and each.start <= fire]
        if not ends:
            return None
        end = max(ends)
        fire = trigger.after(end - 1)
    return end


def to_document(window: MaintenanceWindow) -> dict[str, Any]:
    """As the record keeps it."""
    return {
        "trigger": trigger_to_document(window.trigger),
        "duration": window.duration,
        "tags": [*window.tags],
        "queues": [*window.queues],
        "why": window.why,
        "by": window.by,
        "changed_at": window.changed_at,
        "ended_at": window.ended_at,
    }


def from_document(key: str, document: dict[str, Any]) -> MaintenanceWindow:
    """The window of a record; what only a newer version writes there is passed over."""
    project, _, name = key.partition("/")
    return MaintenanceWindow(
        project=project,
        name=name,
        trigger=trigger_from_document(document["trigger"]).bound(key),
        duration=document["duration"],
        tags=tuple(document["tags"]),
        queues=tuple(document["queues"]),
        why=document["why"],
        by=document["by"],
        changed_at=document["changed_at"],
        ended_at=document["ended_at"],
    )
