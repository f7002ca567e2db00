"""Tallies: what ended in a minute or an hour, counted per project, queue and job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import ceil, log2
from typing import Any

from tickwell.clock import to_datetime
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.outcome import Report
from tickwell.domain.policy import DAY, HOUR, MINUTE

#: Buckets per doubling. A bucket's upper limit is 2 ** (1/8) times its lower one, so that a
#: percentile read from the histogram is within 9.1 % of the exact one.
PER_DOUBLING = 8
#: The bucket of durations below a millisecond.
ZERO = -1

#: Counts by bucket; buckets without a count are left out.
Histogram = dict[int, int]

# Most durations are short: a lookup takes a quarter of the time of a logarithm.
_BUCKETS = (ZERO, *(int(PER_DOUBLING * log2(millis)) for millis in range(1, 4096)))


def bucket_of(millis: int) -> int:
    """The bucket that a duration is counted in."""
    if millis < len(_BUCKETS):
        return _BUCKETS[millis] if millis > 0 else ZERO
    return int(PER_DOUBLING * log2(millis))


def merge(into: Histogram, other: Mapping[int, int]) -> None:
    """Add the counts of another histogram."""
    for bucket, count in other.items():
        into[bucket] = into.get(bucket, 0) + count


def percentile(histogram: Mapping[int, int], part: float) -> float | None:
    """The duration in milliseconds that this part of all stayed at or below; None: it is empty.

    Interpolated within the bucket of the nearest rank.
    """
    rank = ceil(part * sum(histogram.values()))
    for bucket in sorted(histogram):
        count = histogram[bucket]
        if rank <= count:
            return _limit(bucket) + (_limit(bucket + 1) - _limit(bucket)) * (rank - 0.5) / count
        rank -= count
    return None


def _limit(bucket: int) -> float:
    return 2.0 ** (bucket / PER_DOUBLING) if bucket > ZERO else 0.0


#: Queues, and jobs, that a record names; the others are counted together.
MOST_NAMED = 25
#: The name under which the others are counted: no queue or job has it.
OTHER = ""
_COUNTS = ("succeeded", "dead", "cancelled", "retried", "millis")
_RETRIED = frozenset({OutcomeKind.FAILED, OutcomeKind.TIMED_OUT, OutcomeKind.LOST})


@dataclass(frozen=True, slots=True)
class Period:
    """The length of the intervals that are counted, and the records that hold them."""

    length: int
    #: Intervals that a process can still add to: the current one and so many before.
    open: int
    #: Milliseconds after the start of an interval until its records expire.
    kept: int
    #: The kind of record with the totals of a project and its queues; that with its jobs.
    kind: str
    job_kind: str
    pattern: str
    #: One list call reads so many milliseconds: all keys that agree but for so many characters.
    listed: int
    cut: int

    def label(self, start: int) -> str:
        """How keys of an interval begin, sorted by time: 2026-11-16T09."""
        return f"{to_datetime(start):{self.pattern}}"

    def key(self, start: int, owner: str) -> str:
        """The key of one process's record."""
        return f"{self.label(start)}/{owner}"


@dataclass(frozen=True, slots=True)
class Range:
    """The intervals of a period that begin in [since, until)."""

    period: Period
    since: int
    until: int

    def starts(self) -> range:
        """Their first instants."""
        length = self.period.length
        return range(-(-self.since // length) * length, self.until, length)

    def by_label(self) -> dict[str, int]:
        """Their first instants, by how their keys begin."""
        return {self.period.label(start): start for start in self.starts()}

    def prefixes(self) -> list[str]:
        """Prefixes that together list all of their keys, and few others."""
        listed, cut = self.period.listed, self.period.cut
        starts = range(self.since // listed * listed, self.until, listed)
        return [self.period.label(start)[:-cut] for start in starts]


MINUTES = Period(
    length=MINUTE,
    open=9,
    kept=3 * HOUR,
    kind="tally_minute",
    job_kind="tally_minute_job",
    pattern="%Y-%m-%dT%H:%M",
    listed=10 * MINUTE,
    cut=1,
)
HOURS = Period(
    length=HOUR,
    open=1,
    kept=35 * DAY,
    kind="tally",
    job_kind="tally_job",
    pattern="%Y-%m-%dT%H",
    listed=DAY,
    cut=2,
)
PERIODS = (MINUTES, HOURS)


@dataclass(slots=True)
class Tally:
    """How executions ended, how many attempts were retried, and how long attempts took."""

    succeeded: int = 0
    dead: int = 0
    cancelled: int = 0
    #: Attempts that another attempt follows; not part of `executions`.
    retried: int = 0
    #: Time spent in attempts.
    millis: int = 0
    #: Duration of attempts, and how much later than due they started.
    took: Histogram = field(default_factory=dict)
    late: Histogram = field(default_factory=dict)

    @property
    def executions(self) -> int:
        """Executions that ended, each counted once whatever its number of attempts."""
        return self.succeeded + self.dead + self.cancelled

    @property
    def weight(self) -> int:
        """What it is ranked by."""
        return self.executions + self.retried

    def count(self, report: Report) -> None:
        """Count the end of an attempt, and of its execution if none follows."""
        state = report.state
        if state is State.SUCCEEDED:
            self.succeeded += 1
        elif state is State.DEAD:
            self.dead += 1
        elif state is State.CANCELLED:
            self.cancelled += 1
        elif report.outcome in _RETRIED:
            self.retried += 1
        started = report.started_at
        if started is not None and report.outcome is not OutcomeKind.LOST:
            took = report.ended_at - started
            self.millis += took
            bucket = bucket_of(took)
            self.took[bucket] = self.took.get(bucket, 0) + 1
            bucket = bucket_of(started - report.claim.run_at)
            self.late[bucket] = self.late.get(bucket, 0) + 1

    def add(self, other: Tally) -> None:
        """Count the other's as well."""
        self.succeeded += other.succeeded
        self.dead += other.dead
        self.cancelled += other.cancelled
        self.retried += other.retried
        self.millis += other.millis
        merge(self.took, other.took)
        merge(self.late, other.late)

    def to_document(self) -> dict[str, Any]:
        """As a record holds it, without what is zero."""
        found: dict[str, Any] = {name: n for name in _COUNTS if (n := getattr(self, name))}
        for name, histogram in (("took", self.took), ("late", self.late)):
            if histogram:
                found[name] = {str(bucket): count for bucket, count in histogram.items()}
        return found

    @classmethod
    def from_document(cls, document: Any) -> Tally:
        """What a record held; fields of other versions are ignored, missing ones are zero."""
        counts = {name: int(document.get(name, 0)) for name in _COUNTS}
        took, late = (
            {int(bucket): int(n) for bucket, n in document.get(name, {}).items()}
            for name in ("took", "late")
        )
        found = cls(took=took, late=late)
        for name, n in counts.items():
            setattr(found, name, n)
        return found


#: Tallies by the name of a queue or the id of a job.
Named = dict[str, Tally]


def queues_document(queues: Named) -> dict[str, Any]:
    """The record of a project: its totals, and those of its queues."""
    return total(queues.values()).to_document() | {"queues": _named(queues)}


def jobs_document(jobs: Named) -> dict[str, Any]:
    """The record of a project's jobs."""
    return {"jobs": _named(jobs)}


def named_from(document: Any) -> Named:
    """The tallies by name that a record of queues or of jobs held."""
    found = document.get("queues") or document.get("jobs") or {}
    return {name: Tally.from_document(each) for name, each in found.items()}


def _named(tallies: Named) -> dict[str, Any]:
    """Those with most executions by name; the others together."""
    ranked = sorted(tallies, key=lambda name: (name == OTHER, -tallies[name].weight, name))
    found = {name: tallies[name].to_document() for name in ranked[:MOST_NAMED]}
    if rest := ranked[MOST_NAMED:]:
        found[OTHER] = total(tallies[name] for name in rest).to_document()
    return found


def total(tallies: Iterable[Tally]) -> Tally:
    """The sum of all of them."""
    found = Tally()
    for tally in tallies:
        found.add(tally)
    return found
