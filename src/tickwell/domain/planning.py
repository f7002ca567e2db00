"""Which fire times become executions or skips, and what is next. All of it is decided here.

Every function is pure: the same job, cursor and instant give the same plan in every process.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from tickwell.domain.execution import Kind, NewExecution, RangeSkip, Reason
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Cursor, Job, JobState, rank
from tickwell.domain.policy import OnMisfire
from tickwell.domain.trigger import OnDemand
from tickwell.ids import execution_id, spread

#: Missed fire times that one plan walks over. A second-by-second job that slept for a year has
#: 31 million: the rest is left to the next plan, so that no step takes long.
CHUNK = 10_000


@dataclass(slots=True)
class Plan:
    """What a planner records for a job in one atomic step."""

    cursor: Cursor
    executions: list[NewExecution] = field(default_factory=list)
    skips: list[RangeSkip] = field(default_factory=list)


def plan(job: Job, cursor: Cursor, now: int, horizon: int) -> Plan:
    """Answer every fire time up to the horizon that is not answered yet."""
    cursor = _wake(cursor, now + horizon)
    if cursor.state is not JobState.ACTIVE:
        return Plan(cursor)
    walk = _walk(job, cursor, now, now + horizon)
    chosen = _choose(job, walk, now)
    return _record(job, cursor, walk, chosen, now)


def first_cursor(job: Job, now: int) -> Cursor:
    """The cursor of a job that is saved now: fire times later than now are to come.

    A `Once` that lies in the past, but within the grace, is still to come as well.
    """
    after = now
    upcoming = job.trigger.after(after)
    if upcoming is None:
        late = job.trigger.after(now - job.misfire.grace - 1)
        if late is not None:
            after, upcoming = late - 1, late
    state = JobState.ACTIVE
    if upcoming is None and not isinstance(job.trigger, OnDemand):
        state = JobState.FINISHED
    return Cursor(state=state, next_fire_time=upcoming, after=after)


def new_execution(
    job: Job, fire_time: int, *, id: str, kind: Kind, overlap: Overlap, payload: Any = None
) -> NewExecution:
    """An execution of the job at a fire time; jitter is a hash of its id, equal everywhere."""
    jitter = job.trigger.jitter
    run_at = fire_time + (spread(id, jitter + 1) if jitter and kind is Kind.FIRE else 0)
    limits = job.concurrency
    given = job.payload if payload is None else payload
    return NewExecution(
        id=id,
        job=job,
        kind=kind,
        fire_time=fire_time,
        run_at=run_at,
        rank=rank(run_at, job.priority),
        overlap=overlap,
        payload=payload,
        gate=limits.gate(job.project, given) if limits else None,
        limit=limits.limit if limits else 0,
    )


@dataclass(slots=True)
class _Walk:
    """The unanswered fire times of a job, oldest first."""

    #: Within the pause that has ended, or older than the grace.
    paused: list[int] = field(default_factory=list)
    missed: list[int] = field(default_factory=list)
    #: Inside the grace or to come within the horizon.
    recent: list[int] = field(default_factory=list)
    #: The first fire time beyond, if the walk got there.
    upcoming: int | None = None
    #: The chunk was full before the walk reached the grace.
    cut: bool = False


def _wake(cursor: Cursor, end: int) -> Cursor:
    """A pause whose end lies within the horizon ends by itself."""
    if cursor.state is not JobState.PAUSED or cursor.pause is None:
        return cursor
    until = cursor.pause.until
    if until is None or until > end:
        return replace(cursor, next_fire_time=until)
    return resumed(cursor, until)


def resumed(cursor: Cursor, at: int) -> Cursor:
    """The cursor of a job whose pause ends: a pause is no outage, what it passed is skipped."""
    return replace(
        cursor,
        state=JobState.ACTIVE,
        pause=None,
        next_fire_time=at,
        nudged=True,
        paused_through=at,
    )


def _walk(job: Job, cursor: Cursor, now: int, end: int) -> _Walk:
    walk = _Walk()
    after, single = job.trigger.after, job.trigger.follows_finish
    paused_through = cursor.paused_through if cursor.paused_through is not None else -1
    grace_start = now - job.misfire.grace
    fire = after(cursor.after) if cursor.nudged else cursor.next_fire_time
    steps = 0
    while fire is not None and fire <= end:
        if fire <= paused_through:
            walk.paused.append(fire)
        elif fire < grace_start:
            walk.missed.append(fire)
        else:
            walk.recent.append(fire)
        steps += 1
        walk.cut = steps >= CHUNK and fire < grace_start
        if single or walk.cut:
            break
        fire = after(fire)
    walk.upcoming = None if single and steps else fire
    return walk


def _choose(job: Job, walk: _Walk, now: int) -> list[int]:
    """The fire times that become executions, oldest first, before `max_runs` is applied."""
    if walk.cut:
        _hold_back(job, walk)
        return []
    policy = job.misfire
    if policy.policy is OnMisfire.LATEST and not any(fire <= now for fire in walk.recent):
        caught_up = walk.missed[-1:]
    elif policy.policy is OnMisfire.ALL:
        since = now - policy.catchup_window
        caught_up = [fire for fire in walk.missed[-policy.cap :] if fire >= since]
    else:
        caught_up = []
    return caught_up + walk.recent


def _hold_back(job: Job, walk: _Walk) -> None:
    """Of a full chunk, leave the newest to the next plan: they may be among those to catch up."""
    keep = job.misfire.cap
    del walk.missed[len(walk.missed) - min(keep, len(walk.missed)) :]


def _record(job: Job, cursor: Cursor, walk: _Walk, chosen: list[int], now: int) -> Plan:
    limit = job.trigger.max_runs
    if limit is not None:
        chosen = chosen[: max(limit - cursor.runs, 0)]
    runs = cursor.runs + len(chosen)
    skips = _range(job, walk.paused, Reason.PAUSED) + _misfires(job, walk.missed, chosen)
    executions = [
        new_execution(
            job, fire, id=execution_id(job.id, fire), kind=Kind.FIRE, overlap=job.overlap
        )
        for fire in chosen
    ]
    moved = replace(
        cursor,
        after=max([cursor.after, *chosen[-1:], *(skip.last for skip in skips)]),
        runs=runs,
        nudged=False,
        paused_through=None,
        next_fire_time=walk.upcoming,
    )
    if walk.cut:
        moved = replace(
            moved, nudged=True, next_fire_time=now, paused_through=cursor.paused_through
        )
    elif limit is not None and runs >= limit:
        moved = replace(moved, state=JobState.FINISHED, next_fire_time=None)
    elif job.trigger.follows_finish and not chosen and skips:
        # A skipped run has no end to count from: it counts from now.
        moved = replace(moved, after=now, next_fire_time=job.trigger.after(now))
    elif walk.upcoming is None and not _goes_on(job, chosen):
        moved = replace(moved, state=JobState.FINISHED)
    return Plan(moved, executions, skips)


def _goes_on(job: Job, chosen: list[int]) -> bool:
    """Without a next fire time: by request, or from the end of the run that was just chosen."""
    return isinstance(job.trigger, OnDemand) or (job.trigger.follows_finish and bool(chosen))


def _misfires(job: Job, missed: list[int], chosen: list[int]) -> list[RangeSkip]:
    """Missed fire times that do not run, as one range: a row beats a range."""
    caught_up = set(chosen)
    return _range(job, [fire for fire in missed if fire not in caught_up], Reason.MISFIRE)


def _range(job: Job, fires: list[int], reason: Reason) -> list[RangeSkip]:
    if not fires:
        return []
    return [
        RangeSkip(
            job_id=job.id, first=fires[0], last=fires[-1], count=len(fires), reason=reason
        )
    ]
