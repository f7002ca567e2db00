"""Backlogs: missed fire times of a job that are held until a person decides about them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, NamedTuple


class BacklogAnswer(StrEnum):
    """What becomes of the fire times that are held."""

    #: None of them runs.
    SKIP = "skip"
    #: The newest one runs.
    LATEST = "latest"
    #: All of them run, at a rate.
    ALL = "all"


class FireRange(NamedTuple):
    """Fire times that follow each other: the first, the last, and how many."""

    first: int
    last: int
    number: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """Fire times that the misfire policy would run, and that were too many to run at once."""

    #: Oldest first. One, unless a further outage lies between, or a fire time that is skipped for
    #: another reason.
    ranges: tuple[FireRange, ...]
    since: int
    #: When the configured answer applies.
    until: int

    @property
    def count(self) -> int:
        """How many fire times are held."""
        return sum(each.number for each in self.ranges)

    def holds(self, fire_time: int) -> bool:
        """Whether this fire time of the job is held."""
        return any(each.first <= fire_time <= each.last for each in self.ranges)


@dataclass(frozen=True, slots=True, kw_only=True)
class BacklogGate:
    """How many missed fire times a plan may run at once, and what follows where they are more."""

    #: Of one job.
    job: int
    #: How many its project has left.
    room: int
    #: Milliseconds until the answer below applies to what is held.
    wait: int
    #: What applies then: none of the held fire times runs, or the newest of each job.
    answer: BacklogAnswer

    def admits(self, count: int) -> bool:
        """Whether this many of a job may run at once."""
        return count <= min(self.job, self.room)


def to_document(backlog: Backlog) -> dict[str, Any]:
    """As stores keep it."""
    ranges = [list(each) for each in backlog.ranges]
    return {"ranges": ranges, "since": backlog.since, "until": backlog.until}


def from_document(document: Mapping[str, Any]) -> Backlog:
    """The backlog that a store keeps."""
    ranges: Sequence[Sequence[int]] = document["ranges"]
    return Backlog(
        ranges=tuple(FireRange(*each) for each in ranges),
        since=document["since"],
        until=document["until"],
    )
