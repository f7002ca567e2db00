"""Completeness: how many fire times were due, and what became of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from tickwell.domain.execution import Reason
from tickwell.services.slots.slot import Answer, Slot


@dataclass(slots=True, kw_only=True)
class Completeness:
    """The slots of a range, counted; what is to come and what a window took out is not due."""

    due: int = 0
    executed: int = 0
    skipped_by_reason: dict[str, int] = field(default_factory=dict)
    #: Their executions were pruned with the rest of the old history, or purged by a person.
    pruned: int = 0
    #: Zero, or something is broken.
    unanswered: int = 0
    #: Where counting stopped, if the range had too many slots; None: all are counted.
    next: int | None = None

    def __str__(self) -> str:
        parts = [f"{self.due} due", f"{self.executed} ran"]
        for reason, count in sorted(self.skipped_by_reason.items()):
            parts.append(f"{count} skipped: {reason}")
        if self.pruned:
            parts.append(f"{self.pruned} pruned")
        if self.unanswered:
            parts.append(f"{self.unanswered} unanswered")
        return ", ".join(parts)


def count(slots: Iterable[Slot], now: int) -> Completeness:
    """Count slots up to now."""
    answers: Counter[Answer] = Counter()
    reasons: Counter[str] = Counter()
    for slot in slots:
        if slot.fire_time > now or slot.answer is Answer.EXCLUDED:
            continue
        answers[slot.answer] += 1
        if slot.answer in {Answer.SKIPPED, Answer.PAUSED}:
            reasons[str(slot.reason or Reason.PAUSED)] += 1
    return Completeness(
        due=answers.total(),
        executed=answers[Answer.EXECUTED],
        skipped_by_reason=dict(reasons),
        pruned=answers[Answer.PRUNED],
        unanswered=answers[Answer.UNANSWERED],
    )
