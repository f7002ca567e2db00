"""Range skips that meet others: a fire time is counted once, however often a clock went back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from tickwell.domain.execution import RangeSkip, Reason
from tickwell.domain.job import Job


def uncovered(job: Job, skip: RangeSkip, known: Sequence[RangeSkip]) -> RangeSkip | None:
    """What of a new range of the job no known range has answered already; None: nothing."""
    touching = [
        one
        for one in known
        if one.first <= skip.last and one.last >= skip.first and _answers(one, job, skip)
    ]
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


def planned_ahead(job: Job, first: int, last: int) -> RangeSkip:
    """A note that fires to come have rows, though the cursor goes back over them.

    The next plan may come when they are late: it is not to count them as missed.
    """
    return RangeSkip(job_id=job.id, first=first, last=last, count=0, reason=Reason.WITHDRAWN)


def _answers(known: RangeSkip, job: Job, skip: RangeSkip) -> bool:
    """What is planned ahead can still be recalled, and by an edit it is planned anew."""
    is_ahead = known.count == 0 and known.reason is Reason.WITHDRAWN
    return not is_ahead or (skip.count > 0 and job.saved_at < known.first)


def within(fire_times: Iterable[int], ranges: Sequence[RangeSkip]) -> frozenset[int]:
    """The fire times that one of the ranges covers."""
    return frozenset(at for at in fire_times if any(one.first <= at <= one.last for one in ranges))
