"""Range skips that meet others: a fire time is counted once, however often a clock went back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tickwell.domain.execution import RangeSkip
from tickwell.domain.job import Job


def uncovered(job: Job, skip: RangeSkip, known: Sequence[RangeSkip]) -> RangeSkip | None:
    """What of a new range of the job no known range has answered already; None: nothing."""
    touching = [one for one in known if one.first <= skip.last and one.last >= skip.first]
    if not touching:
        return skip
    fires = [skip.first]
    if not job.trigger.follows_finish:
        fires = list(job.trigger.between(skip.first - 1, skip.last))
    left = [at for at in fires if not any(one.first <= at <= one.last for one in touching)]
    count = skip.count and skip.count - (len(fires) - len(left))
    if not left or count < min(skip.count, 1):
        return None
    return replace(skip, first=left[0], last=left[-1], count=count)


def within(fire_times: Iterable[int], ranges: Sequence[RangeSkip]) -> frozenset[int]:
    """The fire times that one of the ranges covers."""
    return frozenset(at for at in fire_times if any(one.first <= at <= one.last for one in ranges))
