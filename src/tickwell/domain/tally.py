"""A tally: the ends of attempts within an hour, counted."""

from __future__ import annotations

from dataclasses import asdict, dataclass, fields
from typing import Any

from tickwell.clock import to_datetime
from tickwell.domain.policy import HOUR

#: The kind of record that holds one.
KIND = "tally"


@dataclass(slots=True)
class Tally:
    """How many executions succeeded and died, and how many attempts will be tried again."""

    succeeded: int = 0
    dead: int = 0
    retried: int = 0
    #: Time spent in attempts.
    millis: int = 0

    def add(self, other: Tally) -> None:
        """Count the other's as well."""
        self.succeeded += other.succeeded
        self.dead += other.dead
        self.retried += other.retried
        self.millis += other.millis

    def to_document(self) -> dict[str, int]:
        """As a record holds it."""
        return asdict(self)

    @classmethod
    def from_document(cls, document: Any) -> Tally:
        """What a record held; fields of another version are left out."""
        return cls(**{name: int(document[name]) for name in _NAMES if name in document})


_NAMES = tuple(field.name for field in fields(Tally))


def tally_key(hour: int, owner: str) -> str:
    """Sorted by time: 2026-11-16T09/<owner>; hours are counted from the epoch."""
    return f"{to_datetime(hour * HOUR):%Y-%m-%dT%H}/{owner}"
