"""How a monitor is, read from its newest executions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from tickwell.domain.execution import Execution, Reason, State
from tickwell.domain.job import Entry, JobState
from tickwell.ports.records import ExecutionFilter
from tickwell.ports.store import HistoryStore
from tickwell.services.jobs.fire_times import next_fire

#: Executions of a monitor that its state is read from.
_LATEST = 10
#: What is down for want of a check-in.
MISSED = "no check-in within its grace"


class MonitorState(StrEnum):
    """How a monitor is."""

    #: Nothing has checked in yet.
    NEW = "new"
    #: The last check-in was a success.
    UP = "up"
    #: A check-in said that a run started, and none that it ended.
    STARTED = "started"
    #: A check-in is due, and its grace is not over.
    LATE = "late"
    #: The last check-in reported a failure, or did not come.
    DOWN = "down"
    PAUSED = "paused"


@dataclass(frozen=True, slots=True, kw_only=True)
class Monitor:
    """A monitor as it is now."""

    entry: Entry
    state: MonitorState
    #: Its newest execution that ended; None: none did.
    last: Execution | None = None
    #: When a check-in that is expected now will be missed; None: none is.
    missed_at: int | None = None
    #: What the last ping of `/log` sent.
    log: str | None = None

    @property
    def next_due(self) -> int | None:
        """When the next check-in is due."""
        return next_fire(self.entry)

    @property
    def why_down(self) -> str | None:
        """Why it is down; None: it is not. A run that has started is no success yet."""
        if self.state is MonitorState.PAUSED or self.last is None:
            return None
        if _says(self.last) is not MonitorState.DOWN:
            return None
        return self.last.error or MISSED


async def read_monitor(store: HistoryStore, entry: Entry, now: int) -> Monitor:
    """How the monitor is."""
    where = ExecutionFilter(project=entry.job.project, job_id=entry.job.id)
    latest = (await store.list_executions(where, limit=_LATEST)).items
    ended = [each for each in latest if each.ended_at is not None and _says(each) is not None]
    last = max(ended, key=lambda each: (each.ended_at or 0, each.id), default=None)
    missed = [_missed_at(entry, each) for each in latest]
    return Monitor(
        entry=entry,
        state=_state(entry, latest, last, now),
        last=last,
        missed_at=min((at for at in missed if at is not None), default=None),
    )


def _state(
    entry: Entry, latest: Sequence[Execution], last: Execution | None, now: int
) -> MonitorState:
    if entry.cursor.state is JobState.PAUSED:
        return MonitorState.PAUSED
    if any(each.state is State.RUNNING for each in latest):
        return MonitorState.STARTED
    if last is not None and _says(last) is MonitorState.DOWN:
        return MonitorState.DOWN
    if any(each.state is State.QUEUED and each.run_at <= now for each in latest):
        return MonitorState.LATE
    return MonitorState.NEW if last is None else MonitorState.UP


def _says(execution: Execution) -> MonitorState | None:
    """What an execution that ended says of its monitor; None: nothing."""
    if execution.state is State.SUCCEEDED:
        return MonitorState.UP
    is_missed = execution.state is State.SKIPPED and execution.reason == Reason.EXPIRED
    return MonitorState.DOWN if is_missed or execution.state is State.DEAD else None


def _missed_at(entry: Entry, execution: Execution) -> int | None:
    if execution.state is State.RUNNING:
        return execution.deadline
    if execution.state is State.QUEUED:
        return execution.run_at + (entry.job.expires or 0)
    return None
