"""Queues: named lanes that workers take executions from, shared by all projects."""

from __future__ import annotations

from dataclasses import dataclass

from tickwell.domain.execution import State

#: Where a paused queue is noted, as a record under its name: the kind, and the project.
PAUSE_KIND = "queue_pause"
PAUSE_PROJECT = "_platform"


@dataclass(frozen=True, slots=True, kw_only=True)
class LaneLength:
    """How many executions of one queue need one ability, and the best ranked of them."""

    queue: str
    ability: str
    #: Queued or parked.
    state: State
    #: Up to the limit that was asked for.
    count: int
    #: Of the best ranked: all of a handler belong to one project, webhooks may not.
    project: str
    job_id: str
    job_version: int
    run_at: int
