"""The use cases that every face calls: an actor asks, in its project, and changes are noted.

`Operations` has them by noun: `operations.jobs.pause(actor, key, why="…")`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from tickwell.services.operations.alerts import AlertOperations
from tickwell.services.operations.bulk import BulkOperations, UndoOperations
from tickwell.services.operations.calendars import CalendarOperations
from tickwell.services.operations.context import Auditor, Limiter, Tools, Unaudited, Unlimited
from tickwell.services.operations.dead_letters import DeadLetterOperations
from tickwell.services.operations.executions import ExecutionOperations
from tickwell.services.operations.insights import CheckupOperations, InsightOperations
from tickwell.services.operations.jobs import JobOperations
from tickwell.services.operations.previews import PreviewOperations
from tickwell.services.operations.queues import QueueOperations, WorkerOperations
from tickwell.services.operations.slots import SlotOperations
from tickwell.services.operations.trials import TrialOperations

__all__ = ["Auditor", "Limiter", "Operations", "Tools", "Unaudited", "Unlimited"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Operations:
    """One attribute for each noun."""

    jobs: JobOperations
    executions: ExecutionOperations
    slots: SlotOperations
    workers: WorkerOperations
    queues: QueueOperations
    dead_letters: DeadLetterOperations
    bulk: BulkOperations
    undo: UndoOperations
    previews: PreviewOperations
    insights: InsightOperations
    trials: TrialOperations
    checkups: CheckupOperations
    calendars: CalendarOperations
    alerts: AlertOperations

    @classmethod
    def over(cls, tools: Tools) -> Self:
        """All of them, made of the same tools."""
        return cls(
            jobs=JobOperations(tools),
            executions=ExecutionOperations(tools),
            slots=SlotOperations(tools),
            workers=WorkerOperations(tools),
            queues=QueueOperations(tools),
            dead_letters=DeadLetterOperations(tools),
            bulk=BulkOperations(tools),
            undo=UndoOperations(tools),
            previews=PreviewOperations(tools),
            insights=InsightOperations(tools),
            trials=TrialOperations(tools),
            checkups=CheckupOperations(tools),
            calendars=CalendarOperations(tools),
            alerts=AlertOperations(tools),
        )
