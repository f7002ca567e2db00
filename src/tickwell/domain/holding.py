"""Holding missed fire times of a job: which, as what record, and when it is looked at again."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Iterable
from dataclasses import replace
from itertools import groupby

from tickwell.domain.backlog import Backlog, BacklogAnswer, BacklogGate, FireRange
from tickwell.domain.execution import RangeSkip, Reason
from tickwell.domain.job import Cursor, Job, JobState
from tickwell.domain.policy import OnMisfire


def not_admitted(
    job: Job, missed: list[int], chosen: list[int], gate: BacklogGate | None
) -> list[int]:
    """The missed fire times among the chosen ones, if the gate does not admit them.

    Where runs are counted, or one counts from the end of another, nothing is held: which fire times
    follow would depend on the answer.
    """
    if gate is None or not missed or not chosen or chosen[0] > missed[-1]:
        return []
    if job.trigger.follows_finish or job.trigger.max_runs is not None:
        return []
    late = [fire for fire in chosen if fire <= missed[-1]]
    return [] if gate.admits(len(late)) else late


def consecutive(held: list[int], skipped: list[tuple[int, Reason]]) -> tuple[FireRange, ...]:
    """The ranges that they are; a fire time that is skipped for another reason is in none."""
    between = [fire for fire, _ in skipped]
    groups = (list(each) for _, each in groupby(held, key=lambda fire: bisect(between, fire)))
    return tuple(FireRange(fires[0], fires[-1], len(fires)) for fires in groups)


def holding(
    job: Job, cursor: Cursor, held: tuple[FireRange, ...], now: int, gate: BacklogGate | None
) -> tuple[Cursor, list[RangeSkip]]:
    """The cursor that holds them, and what of an earlier outage is passed over for them.

    Both together are no more than the policy runs after one outage.
    """
    if gate is None or not held:
        return cursor, []
    backlog = cursor.backlog or Backlog(ranges=(), since=now, until=now + gate.wait)
    ranges, dropped = [*backlog.ranges, *held], list[FireRange]()
    most = job.misfire.cap if job.misfire.policy is OnMisfire.ALL else 1
    while len(ranges) > len(held) and sum(each.number for each in ranges) > most:
        dropped.append(ranges.pop(0))
    backlog = replace(backlog, ranges=tuple(ranges))
    return replace(cursor, backlog=backlog), passed_over(job, dropped)


def look_at_backlog(cursor: Cursor) -> Cursor:
    """With a look when the configured answer applies to what is held, if none comes before."""
    backlog, upcoming = cursor.backlog, cursor.next_fire_time
    if backlog is None or cursor.state is not JobState.ACTIVE:
        return cursor
    if upcoming is not None and upcoming <= backlog.until:
        return cursor
    return replace(cursor, next_fire_time=backlog.until, nudged=True)


def passed_over(job: Job, ranges: Iterable[FireRange]) -> list[RangeSkip]:
    """The record that what was held does not run."""
    return [
        RangeSkip(
            job_id=job.id,
            first=each.first,
            last=each.last,
            count=each.number,
            reason=Reason.BACKLOG,
        )
        for each in ranges
    ]


def divided(
    job: Job, backlog: Backlog, answer: BacklogAnswer
) -> tuple[list[int], tuple[FireRange, ...]]:
    """The held fire times that run, and the ranges of those that do not."""
    ranges = backlog.ranges
    if answer is BacklogAnswer.SKIP:
        return [], ranges
    if answer is BacklogAnswer.ALL:
        return [fire for each in ranges for fire in _fires_of(job, each)], ()
    newest = ranges[-1]
    before = _fires_of(job, newest)[:-1]
    left = [FireRange(before[0], before[-1], newest.number - 1)] if before else []
    return [newest.last], (*ranges[:-1], *left)


def _fires_of(job: Job, within: FireRange) -> list[int]:
    return list(job.trigger.between(within.first - 1, within.last))
