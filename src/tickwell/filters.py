"""Filters: what `scheduler.jobs(…)` and `scheduler.executions(…)` accept by keyword.

A filter is a plain dictionary: `dead: ExecutionFilter = {"state": State.DEAD}`, then
`scheduler.executions(**dead)`.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Literal, TypedDict

from tickwell.domain.execution import Kind, State
from tickwell.domain.job import JobState

__all__ = ["ExecutionFilter", "JobFilter"]

JobStateName = Literal["active", "paused", "finished", "deleted"]
StateName = Literal[
    "waiting",
    "blocked",
    "queued",
    "running",
    "parked",
    "succeeded",
    "dead",
    "cancelled",
    "skipped",
]


class JobFilter(TypedDict, total=False):
    """Which jobs to list; deleted ones only if their state is asked for."""

    #: One state or several.
    state: JobState | JobStateName | Collection[JobState | JobStateName] | None
    queue: str | None
    #: The application that declares them.
    app: str | None
    tag: str | None
    #: A part of the name.
    search: str | None


class ExecutionFilter(TypedDict, total=False):
    """Which executions to list."""

    #: The job's name or id.
    job: str | None
    #: One state or several.
    state: State | StateName | Collection[State | StateName] | None
    #: Those of fire times, or those that were requested.
    kind: Kind | Literal["fire", "request"] | None
    queue: str | None
    #: Fire times from this moment on.
    since: datetime | None
    #: Fire times before this moment.
    until: datetime | None
