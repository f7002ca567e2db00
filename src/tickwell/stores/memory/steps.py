"""The steps of executions in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from tickwell.clock import NEVER
from tickwell.domain.execution import LIVE, Execution, OutcomeKind, State
from tickwell.domain.job import rank
from tickwell.domain.step import Step, in_order
from tickwell.stores.memory.flow import Flow
from tickwell.stores.memory.tables import Row, own


class MemorySteps:
    """`ports.store.StepStore`."""

    def __init__(self, flow: Flow) -> None:
        self.tables = flow.tables
        self.flow = flow

    async def write_steps(self, steps: Sequence[Step]) -> list[Step]:
        refused = []
        for step in steps:
            if not self._is_under_way(step):
                refused.append(step)
                continue
            known = self.tables.steps.setdefault(step.execution, {})
            if step.name not in known or not known[step.name].is_final:
                known[step.name] = replace(step, value=own(step.value))
        return refused

    def _is_under_way(self, step: Step) -> bool:
        row = self.tables.rows.get(step.execution)
        if row is None or row.execution.state is not State.RUNNING:
            return False
        return row.execution.attempt == step.attempt

    async def answer_step(self, project: str, id: str, name: str, value: Any, now: int) -> bool:
        row = self.tables.rows.get(id)
        step = self.tables.steps.get(id, {}).get(name)
        if row is None or row.execution.project != project or row.execution.state not in LIVE:
            return False
        if step is None or step.is_final:
            return False
        answered = replace(step, value=own(value), at=now, is_final=True)
        self.tables.steps[id] = self.tables.steps[id] | {name: answered}
        if self._waits_for(row.execution, step):
            self._resume(row, now)
        return True

    def _waits_for(self, execution: Execution, step: Step) -> bool:
        """Whether its last attempt asked and waits; one that failed waits for its retry."""
        if execution.state is not State.WAITING or execution.attempt != step.attempt:
            return False
        return execution.attempts[-1].outcome is OutcomeKind.SNOOZED

    def _resume(self, row: Row, now: int) -> None:
        """Let it go on now, unless it is due already or held until its job is resumed."""
        execution = row.execution
        if now < execution.run_at < NEVER:
            execution.run_at = row.look_at = now
            row.rank = rank(now, self.tables.jobs[execution.job_id].job.priority)
            self.flow.admit(row, now, 0)

    async def list_steps(self, project: str, id: str) -> list[Step]:
        row = self.tables.rows.get(id)
        if row is None or row.execution.project != project:
            return []
        found = self.tables.steps.get(id, {}).values()
        return in_order(replace(step, value=own(step.value)) for step in found)
