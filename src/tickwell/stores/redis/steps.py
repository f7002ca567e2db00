"""The steps of executions on Redis: a hash for each execution that has any."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from tickwell.domain.step import Step, in_order
from tickwell.stores.redis.client import Client
from tickwell.stores.redis.rows import dumps
from tickwell.stores.sql.rows.codec import clean


class RedisSteps:
    """`ports.store.StepStore`."""

    def __init__(self, client: Client) -> None:
        self.client = client

    async def write_steps(self, steps: Sequence[Step]) -> list[Step]:
        rows = [
            [
                clean(step.execution),
                step.attempt,
                clean(step.name),
                step.is_final,
                dumps([step.attempt, step.at, step.value]),
            ]
            for step in steps
        ]
        refused = await self.client.answer("write_steps", dumps(rows)) if rows else []
        return [steps[index] for index in refused]

    async def answer_step(self, project: str, id: str, name: str, value: Any, now: int) -> bool:
        asked = clean(project) or "", clean(id) or "", clean(name) or ""
        is_answered = bool(await self.client.call("answer_step", now, *asked, dumps(value)))
        if is_answered:
            self.client.bell.ring()
        return is_answered

    async def list_steps(self, project: str, id: str) -> list[Step]:
        found = await self.client.call("list_steps", clean(project) or "", clean(id) or "")
        return in_order(
            step_of(id, name.decode(), stored)
            for name, stored in zip(found[::2], found[1::2], strict=True)
        )


def step_argument(step: Step) -> tuple[str, str]:
    """The name of a step, and what is stored of it."""
    stored = f"{int(step.is_final)}{dumps([step.attempt, step.at, step.value])}"
    return clean(step.name) or "", stored


def step_of(execution: str, name: str, stored: bytes | str) -> Step:
    """The step of what is stored of it."""
    attempt, at, value = json.loads(stored[1:])
    return Step(
        execution=execution,
        attempt=attempt,
        name=name,
        value=value,
        at=at,
        is_final=stored[:1] in {b"1", "1"},
    )
