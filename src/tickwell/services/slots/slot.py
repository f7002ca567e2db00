"""A slot: a nominal fire time with its answer."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from tickwell.domain.execution import ENDED, State


class Answer(StrEnum):
    """What became of a fire time."""

    #: There is an execution; `state` says how it stands.
    EXECUTED = "executed"
    #: It was passed over; `reason` says why.
    SKIPPED = "skipped"
    #: Its instant has not come.
    UPCOMING = "upcoming"
    #: A window or a calendar took it out: no fire time, and so no row.
    EXCLUDED = "excluded"
    #: The job is paused now; resuming records it as skipped.
    PAUSED = "paused"
    #: Its execution was pruned with the rest of the old history, or purged by a person.
    PRUNED = "pruned"
    #: Nobody has answered it; if it stays so, something is broken.
    UNANSWERED = "unanswered"


@dataclass(frozen=True, slots=True)
class Slot:
    """A nominal fire time with its answer."""

    fire_time: int
    answer: Answer
    #: Why it was skipped or taken out.
    reason: str | None = None
    execution_id: str | None = None
    state: State | None = None

    @property
    def is_open(self) -> bool:
        """Whether it has not run, and is one that a backfill runs."""
        return self.answer in {Answer.SKIPPED, Answer.PAUSED, Answer.UNANSWERED}

    @property
    def has_run(self) -> bool:
        """Whether it ran and ended, and is one that a forced backfill runs again."""
        return self.answer is Answer.PRUNED or (self.state in ENDED and not self.is_open)


@dataclass(slots=True, kw_only=True)
class SlotPage:
    """Slots of a range, oldest first."""

    items: list[Slot]
    #: Where the next part begins when there were too many; None: this is all.
    next: int | None = None
