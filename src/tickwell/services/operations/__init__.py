"""The use cases that every face calls: an actor asks, in its project, and changes are noted.

`Operations` has them by noun: `operations.jobs.pause(actor, key, why="…")`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from tickwell.services.operations.alerts import AlertOperations
from tickwell.services.operations.backlogs import BacklogOperations
from tickwell.services.operations.bulk import BulkOperations, UndoOperations
from tickwell.services.operations.calendars import CalendarOperations
from tickwell.services.operations.context import (
    Auditor,
    Limiter,
    OperationContext,
    Unaudited,
    Unlimited,
)
from tickwell.services.operations.dead_letters import DeadLetterOperations
from tickwell.services.operations.executions import ExecutionOperations
from tickwell.services.operations.insights import CheckupOperations, InsightOperations
from tickwell.services.operations.jobs import JobOperations
from tickwell.services.operations.maintenance import MaintenanceOperations
from tickwell.services.operations.monitors import MonitorOperations
from tickwell.services.operations.previews import PreviewOperations
from tickwell.services.operations.project_pauses import ProjectPauseOperations
from tickwell.services.operations.queues import QueueOperations, WorkerOperations
from tickwell.services.operations.slots import SlotOperations
from tickwell.services.operations.trials import TrialOperations

__all__ = ["Auditor", "Limiter", "OperationContext", "Operations", "Unaudited", "Unlimited"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """One attribute for each noun."""

    jobs: JobOperations
    executions: ExecutionOperations
    slots: SlotOperations
    workers: WorkerOperations
    queues: QueueOperations
    pauses: ProjectPauseOperations
    maintenance: MaintenanceOperations
    backlogs: BacklogOperations
    dead_letters: DeadLetterOperations
    bulk: BulkOperations
    undo: UndoOperations
    previews: PreviewOperations
    insights: InsightOperations
    trials: TrialOperations
    checkups: CheckupOperations
    calendars: CalendarOperations
    alerts: AlertOperations
    monitors: MonitorOperations

    @classmethod
    def over(cls, context: OperationContext) -> Self:
        """All use cases over one context."""
        jobs = JobOperations(context)
        return cls(
            jobs=jobs,
            executions=ExecutionOperations(context),
            slots=SlotOperations(context),
            workers=WorkerOperations(context),
            queues=QueueOperations(context),
            pauses=ProjectPauseOperations(context),
            maintenance=MaintenanceOperations(context),
            backlogs=BacklogOperations(context),
            dead_letters=DeadLetterOperations(context),
            bulk=BulkOperations(context),
            undo=UndoOperations(context),
            previews=PreviewOperations(context),
            insights=InsightOperations(context),
            trials=TrialOperations(context),
            checkups=CheckupOperations(context),
            calendars=CalendarOperations(context),
            alerts=AlertOperations(context),
            monitors=MonitorOperations(context, jobs),
        )
