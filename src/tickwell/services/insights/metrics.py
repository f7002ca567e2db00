"""Metrics: rates, errors, percentiles and queue depth of a project, now and over time.

The metrics page, the API and `tickwell top` read these; the overview reads the same records.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from tickwell.domain.depth import KINDS, Depths
from tickwell.domain.execution import DUE
from tickwell.domain.policy import DAY, HOUR, MINUTE, SECOND
from tickwell.domain.tally import (
    HOURS,
    MINUTES,
    OTHER,
    Histogram,
    Named,
    Period,
    Range,
    Tally,
    percentile,
    total,
)
from tickwell.ports.records import ExecutionFilter
from tickwell.ports.store import HistoryStore, RecordStore
from tickwell.services.projects.platform import PLATFORM

#: Records that one list call reads: of 10 minutes or 24 hours, of 400 processes at least.
_MOST = 10_000

#: The start of an interval, and what one process counted in it.
Counted = tuple[int, Any]


async def read(
    store: RecordStore, project: str, within: Range, now: int, *, jobs: bool = False
) -> Sequence[Counted]:
    """The records of a range, of queues or of jobs."""
    labels = within.by_label()
    kind = within.period.job_kind if jobs else within.period.kind
    pages = await asyncio.gather(
        *(store.list_records(kind, project, each, now, _MOST) for each in within.prefixes())
    )
    records = (record for page in pages for record in page)
    found = ((labels.get(record.key.partition("/")[0]), record.document) for record in records)
    return [(start, document) for start, document in found if start is not None]


def by_interval(
    counted: Sequence[Counted], starts: range, group: str | None = None, name: str = ""
) -> dict[int, Tally]:
    """The totals of each interval, or those of one name in "queues" or "jobs"."""
    sums = {start: Tally() for start in starts}
    for start, document in counted:
        part = document if group is None else document.get(group, {}).get(name)
        if part is not None:
            sums[start].add(Tally.from_document(part))
    return sums


def by_name(counted: Sequence[Counted], group: str) -> Named:
    """The totals of each name in "queues" or "jobs", the one with most executions first."""
    sums: Named = {}
    for _, document in counted:
        for name, part in document.get(group, {}).items():
            sums.setdefault(name, Tally()).add(Tally.from_document(part))
    ranked = sorted(sums, key=lambda name: (name == OTHER, -sums[name].weight, name))
    return {name: sums[name] for name in ranked}


async def hourly(
    store: RecordStore, project: str, since: int, until: int, now: int
) -> dict[int, Tally]:
    """The totals of the hours that begin in [since, until), by their first instant."""
    within = Range(HOURS, since, until)
    return by_interval(await read(store, project, within, now), within.starts())


#: Minutes that rates are given over; percentiles are those of the longest.
WINDOWS = (1, 5, 15)
#: What a chart can show: its length, and the intervals that it is drawn by.
SPANS: Mapping[str, tuple[int, Period]] = {
    "1h": (HOUR, MINUTES),
    "24h": (DAY, HOURS),
    "7d": (7 * DAY, HOURS),
}
#: Due executions of a queue or a job that are counted.
_COUNTED = 1000


class MetricsStore(HistoryStore, RecordStore, Protocol):
    """The part of a store that metrics are read from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Whose metrics: of a project or, for platform admins, of all projects."""

    #: None: all projects.
    project: str | None
    #: Only this queue.
    queue: str | None = None
    #: Only the job with this id; it decides where a queue is given as well.
    job: str | None = None

    @property
    def recorded_as(self) -> str:
        """The project of the records."""
        return PLATFORM if self.project is None else self.project


@dataclass(frozen=True, slots=True)
class Percentiles:
    """Milliseconds that half, 95 and 99 of a hundred attempts stayed below; None: no attempt."""

    p50: float | None
    p95: float | None
    p99: float | None

    @classmethod
    def of(cls, histogram: Histogram) -> Percentiles:
        """Read from a histogram, so within 9.1 % of the exact ones."""
        return cls(*(percentile(histogram, part) for part in (0.50, 0.95, 0.99)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Metrics:
    """The last minutes."""

    #: Executions that ended, and those that failed, per second, by the minutes of the window.
    rate: dict[int, float]
    errors: dict[int, float]
    #: Of the attempts of the longest window.
    duration: Percentiles
    lateness: Percentiles
    #: Executions that are due and not running.
    depth: int
    #: What ended in the longest window, by queue, the busiest first; "" are those not named.
    queues: Named


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """A span of time in equal intervals."""

    within: Range
    #: By the first instant of the interval.
    tallies: dict[int, Tally]
    #: The highest sample of the interval; None: there is none.
    depths: dict[int, int | None]
    #: How many executions of the job are due now, up to 1,000; None: no job is looked at.
    due: int | None
    total: Tally
    #: The busiest first; the name "" stands for all others.
    queues: Named
    #: By id.
    jobs: Named


async def read_current(store: MetricsStore, scope: Scope, now: int) -> Metrics:
    """The metrics of the last minutes."""
    since = now // MINUTE * MINUTE - max(WINDOWS) * MINUTE
    within, of_job = Range(MINUTES, since, now + 1), scope.job is not None
    counted, depth = await asyncio.gather(
        read(store, scope.recorded_as, within, now, jobs=of_job), _depth(store, scope)
    )
    tallies = _scoped(counted, within.starts(), scope)
    queues = {} if of_job else by_name(counted, "queues")
    together = total(tallies.values())
    return Metrics(
        rate={each: _rate(tallies, each, now, failed=False) for each in WINDOWS},
        errors={each: _rate(tallies, each, now, failed=True) for each in WINDOWS},
        duration=Percentiles.of(together.took),
        lateness=Percentiles.of(together.late),
        depth=depth,
        queues={name: queues[name] for name in queues if scope.queue in {None, name}},
    )


async def read_series(store: MetricsStore, scope: Scope, span: str, now: int) -> Series:
    """The metrics of a span that ends now, interval by interval."""
    length, period = SPANS[span]
    until = (now // period.length + 1) * period.length
    within = Range(period, until - length, until)
    queues, jobs, depths, due = await asyncio.gather(
        read(store, scope.recorded_as, within, now),
        read(store, scope.recorded_as, within, now, jobs=True),
        _depths(store, scope, within, now),
        _depth(store, scope) if scope.job else _unasked(),
    )
    starts = within.starts()
    tallies = _scoped(jobs if scope.job else queues, starts, scope)
    return Series(
        within=within,
        tallies=tallies,
        depths={start: depths.get(start) for start in starts},
        due=due,
        total=total(tallies.values()),
        queues=by_name(queues, "queues"),
        jobs=by_name(jobs, "jobs"),
    )


def _scoped(counted: Sequence[Counted], starts: range, scope: Scope) -> dict[int, Tally]:
    if scope.job is not None:
        return by_interval(counted, starts, "jobs", scope.job)
    if scope.queue is not None:
        return by_interval(counted, starts, "queues", scope.queue)
    return by_interval(counted, starts)


def _rate(tallies: Mapping[int, Tally], minutes: int, now: int, *, failed: bool) -> float:
    """Per second over so many minutes until now: of the first of them, the part within them."""
    this = now // MINUTE * MINUTE
    count = 0.0
    for back in range(minutes + 1):
        tally = tallies.get(this - back * MINUTE, Tally())
        ended = tally.dead if failed else tally.executions
        count += ended if back < minutes else ended * (1 - (now - this) / MINUTE)
    return count / (minutes * MINUTE / SECOND)


async def _depth(store: MetricsStore, scope: Scope) -> int:
    if scope.job is None and scope.queue is None:
        stats = await store.stats(scope.project)
        return sum(stats.get(state, 0) for state in DUE)
    where = ExecutionFilter(
        project=scope.project,
        job_id=scope.job,
        queue=scope.queue if scope.job is None else None,
        states=DUE,
    )
    return len((await store.list_executions(where, limit=_COUNTED)).items)


async def _unasked() -> None:
    """A project's samples say it."""


async def _depths(
    store: MetricsStore, scope: Scope, within: Range, now: int
) -> dict[int, int | None]:
    """The samples."""
    labels, kind = within.by_label(), KINDS[within.period]
    pages = await asyncio.gather(
        *(store.list_records(kind, PLATFORM, prefix, now) for prefix in within.prefixes())
    )
    return {
        labels[record.key]: _of_scope(Depths.from_document(record.document), scope)
        for page in pages
        for record in page
        if record.key in labels
    }


def _of_scope(depths: Depths, scope: Scope) -> int | None:
    if scope.job is not None:
        return depths.of_job(scope.job)
    return depths.of(scope.project, scope.queue)
