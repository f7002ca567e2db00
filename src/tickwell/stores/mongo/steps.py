"""The steps of executions on MongoDB: a field of the execution's document, which is their fence.

What an attempt writes there takes no revision of the document: workspaces neither read nor write
it, but for answers, which change the execution too.
"""

from __future__ import annotations

from asyncio import gather
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from tickwell.domain.step import Step, effective, in_order
from tickwell.stores.mongo.client import Part
from tickwell.stores.mongo.codec import RUNNING
from tickwell.stores.mongo.database import Document
from tickwell.stores.mongo.documents import step_document, step_key, steps_of
from tickwell.stores.mongo.errors import translate_errors
from tickwell.stores.mongo.workspace.transaction import Transactions
from tickwell.stores.mongo.workspace.workspace import Workspace


class MongoSteps(Part):
    """`ports.store.StepStore`."""

    def __init__(self, transactions: Transactions) -> None:
        super().__init__(transactions.client)
        self.transactions = transactions

    @translate_errors
    async def write_steps(self, steps: Sequence[Step]) -> list[Step]:
        by_attempt: defaultdict[tuple[str, int], list[Step]] = defaultdict(list)
        for step in effective(steps):
            by_attempt[step.execution, step.attempt].append(step)
        written = await gather(*(self._write(*key, some) for key, some in by_attempt.items()))
        under_way = {key for key, is_written in zip(by_attempt, written, strict=True) if is_written}
        return [step for step in steps if (step.execution, step.attempt) not in under_way]

    async def _write(self, id: str, attempt: int, steps: list[Step]) -> bool:
        """Write what one attempt has done, if it is under way."""
        fields = {f"steps.{step_key(step.name)}": _unless_final(step) for step in steps}
        done = await self.database.executions.update_one(
            {"_id": id, "state": RUNNING, "attempt": attempt}, [{"$set": fields}]
        )
        return done.matched_count > 0

    @translate_errors
    async def answer_step(self, project: str, id: str, name: str, value: Any, now: int) -> bool:
        async def answer(space: Workspace, some: list[str]) -> list[str]:
            steps = space.spec.steps
            return [one for one in some if await steps.answer_step(project, one, name, value, now)]

        return bool(await self.transactions.on_executions([id], now, answer, with_steps=True))

    @translate_errors
    async def list_steps(self, project: str, id: str) -> list[Step]:
        doc = await self.database.executions.find_one({"_id": id, "project": project}, {"steps": 1})
        return [] if doc is None else in_order(steps_of(doc))


def _unless_final(step: Step) -> Document:
    """The value of the field: what is there if that is final, otherwise the step."""
    field, written = f"$steps.{step_key(step.name)}", step_document(step)
    return {"$cond": [{"$eq": [f"{field}.final", True]}, field, {"$literal": written}]}
