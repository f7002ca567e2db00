"""All operations over one store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

from tickwell.services.operations.bulk import BulkOperations
from tickwell.services.operations.checkups import CheckupOperations
from tickwell.services.operations.dead_letters import DeadLetterOperations
from tickwell.services.operations.executions import ExecutionOperations
from tickwell.services.operations.insights import InsightOperations
from tickwell.services.operations.jobs import JobOperations
from tickwell.services.operations.previews import PreviewOperations
from tickwell.services.operations.queues import QueueOperations
from tickwell.services.operations.slots import SlotOperations
from tickwell.services.operations.tools import Tools
from tickwell.services.operations.trials import TrialOperations
from tickwell.services.operations.undo import UndoOperations
from tickwell.services.operations.workers import WorkerOperations


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
        )
