"""The steps of executions."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tickwell.domain.step import Step, effective, in_order
from tickwell.ids import is_id
from tickwell.stores.sql.flow.settling import Settling
from tickwell.stores.sql.parts import D, Part
from tickwell.stores.sql.rows.codec import clean, document_to_text


class SqlSteps(Part[D]):
    """`ports.store.StepStore`."""

    async def write_steps(self, steps: Sequence[Step]) -> list[Step]:
        rows = [
            (
                step.execution,
                step.attempt,
                clean(step.name),
                step.at,
                step.is_final,
                document_to_text(step.value),
            )
            for step in effective(steps)
            if is_id(step.execution)
        ]
        found = await self.write(rows) if rows else []
        under_way = {(id, attempt) for id, attempt in found}
        return [step for step in steps if (step.execution, step.attempt) not in under_way]

    async def write(self, rows: list[tuple[Any, ...]]) -> list[Any]:
        """Write what stands; ids and attempts of the executions that are under way."""
        return await self.database.write_one(lambda session: session.many("write_steps", rows))

    async def answer_step(self, project: str, id: str, name: str, value: Any, now: int) -> bool:
        text = document_to_text(value)
        is_answered = await self.database.write(
            lambda session: Settling(session, self.cache, now).answer(project, id, name, text)
        )
        if is_answered:
            self.context.ring()
        return is_answered

    async def list_steps(self, project: str, id: str) -> list[Step]:
        if not is_id(id):
            return []
        rows = await self.database.read_one(
            lambda session: session.rows("list_steps", id, clean(project))
        )
        return in_order(
            Step(
                execution=id,
                attempt=attempt,
                name=name,
                value=json.loads(document),
                at=at,
                is_final=bool(is_final),
            )
            for attempt, name, at, is_final, document in rows
        )
