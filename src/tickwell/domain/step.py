"""Steps: what an execution has done already, kept from one attempt to the next."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

#: The name under which a checkpoint is kept; no step has an empty name.
CHECKPOINT = ""
#: What the names of waits begin with, and of nothing else: steps that others make final.
WAIT = "wait:"
#: Characters in the name of a step.
LONGEST_NAME = 100
#: Steps of one execution, and characters of JSON that their values have together.
MOST_STEPS = 1_000
MOST_CHARACTERS = 2_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """Something that an execution has done, and what came of it."""

    #: The execution's id.
    execution: str
    #: The attempt that wrote it.
    attempt: int
    #: Unique in the execution.
    name: str
    #: What it returned, as JSON.
    value: Any
    #: When it was written.
    at: int
    #: Whether it stays as it is. A checkpoint is replaced by the next one.
    is_final: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """A question of an execution to the outside, and what came of it."""

    name: str
    #: When it is answered by the execution itself: by nobody.
    expires_at: int
    #: None while it is open.
    ended_at: int | None
    is_expired: bool = False
    answer: Any = None
    #: Who gave the answer.
    by: str = ""

    @property
    def is_open(self) -> bool:
        """Whether it can still be answered."""
        return self.ended_at is None


def is_step(step: Step) -> bool:
    """Whether it is something that a handler has done: neither a checkpoint nor a question."""
    return step.name != CHECKPOINT and not step.name.startswith(WAIT)


def wait_of(step: Step) -> Wait:
    """The wait that a step is."""
    return Wait(
        name=step.name.removeprefix(WAIT),
        expires_at=step.value["expires_at"],
        ended_at=step.at if step.is_final else None,
        is_expired=step.is_final and "by" not in step.value,
        answer=step.value.get("answer"),
        by=step.value.get("by", ""),
    )


def effective(steps: Iterable[Step]) -> list[Step]:
    """Of steps with one name in one attempt: the last, or the first that is final; by execution.

    In one order, so that two who write the same rows wait for each other instead of deadlocking.
    """
    found: dict[tuple[str, int, str], Step] = {}
    for step in steps:
        key = step.execution, step.attempt, step.name
        if key not in found or not found[key].is_final:
            found[key] = step
    return [step for _, step in sorted(found.items())]


def in_order(steps: Iterable[Step]) -> list[Step]:
    """The steps of an execution, by when they were written, then by name."""
    return sorted(steps, key=lambda step: (step.at, step.name))
