"""Which fire times become executions or skips, and what is next. All of it is decided here.

Every function is pure: the same job, cursor and instant give the same plan in every process.
"""

from __future__ import annotations

from bisect import bisect
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from itertools import groupby
from typing import Any

from tickwell.clock import NEVER
from tickwell.domain.backlog import BacklogAnswer, BacklogGate
from tickwell.domain.execution import Execution, Kind, NewExecution, RangeSkip, Reason
from tickwell.domain.gate import Overlap
from tickwell.domain.holding import (
    consecutive,
    divided,
    holding,
    look_at_backlog,
    not_admitted,
    passed_over,
)
from tickwell.domain.job import Cursor, Job, JobState, Pause, PauseScope, rank
from tickwell.domain.policy import MINUTE, OnMisfire
from tickwell.domain.trigger import OnDemand
from tickwell.domain.trigger.work import Work
from tickwell.ids import execution_id, spread

#: Overlap rules by which fires that are due together would be skipped: after an absence they wait
#: for each other.
WAITING_IN_LINE = frozenset({Overlap.SKIP, Overlap.QUEUE_ONE})


@dataclass(frozen=True, slots=True)
class Absence:
    """No process was there, until now: fires that came due meanwhile are planned together.

    At their instants none of them was live, so they wait for each other instead of being skipped
    as overlapping. Only a run that was live at the instant itself overlaps.
    """

    #: Since when a run of the job has been under way, if one is.
    running_since: int | None = None

    def overlap(self, rule: Overlap, run_at: int) -> Overlap:
        """The overlap rule of a fire that came due at this instant."""
        overlapped = self.running_since is not None and self.running_since <= run_at
        return Overlap.QUEUE_ALL if rule in WAITING_IN_LINE and not overlapped else rule


def live_since(run: Execution, job: Job) -> int:
    """Since when a run that was tried has been under way: waits after failed attempts count.

    An attempt that was lost or released with its process is not charged, and was over.
    """
    if run.deadline is None or run.charged > 1:
        return run.fire_time
    # The store sets the deadline when it hands the attempt over.
    return run.deadline - job.timeout.hard - MINUTE


#: Fire times that one plan walks over. A second-by-second job that slept for a year has 31 million:
#: the rest is left to the next plan, so that no step takes long.
CHUNK = 10_000
#: And what their search may cost, some 50 ms, as `Work` counts it.
TOIL = 25_000
#: Milliseconds until a job that a planner paused with its project is looked at again.
HELD_FOR = 10_000
#: Milliseconds until a fire time is looked for again where a search came nowhere.
LATER = 3_600_000


@dataclass(slots=True)
class Plan:
    """What a planner records for a job in one atomic step."""

    cursor: Cursor
    executions: list[NewExecution] = field(default_factory=list)
    skips: list[RangeSkip] = field(default_factory=list)
    #: The chunk was full: fire times are left over that are due already.
    more: bool = False
    #: A pause ended by itself: what it held may run from this instant on, in the same write.
    release_at: int | None = None


def plan(
    job: Job,
    cursor: Cursor,
    now: int,
    horizon: int,
    absence: Absence | None = None,
    *,
    under: Pause | None = None,
    in_maintenance: Callable[[int], bool] | None = None,
    gate: BacklogGate | None = None,
) -> Plan:
    """Answer every fire time up to the horizon that is not answered yet.

    Under a pause of its project or of everything, the job is paused instead. Fire times that lie in
    a maintenance window are skipped. Missed ones that the gate does not admit are held, until a
    person or its answer decides about them.
    """
    end = now + horizon
    if under is not None and not is_paused_alone(cursor, end):
        cursor = _held(cursor, under, end)
        if under.lasts(end):
            return Plan(cursor)
    release_at = _pause_over(cursor, now, end)
    if release_at is not None:
        cursor = resumed(cursor, release_at)
    if cursor.state is not JobState.ACTIVE or cursor.next_fire_time is None:
        return Plan(cursor)
    settled: Answered | None = None
    if cursor.backlog is not None and gate is not None and cursor.backlog.until <= end:
        settled = answer_backlog(job, cursor, gate.answer)
        cursor = settled.cursor
    limit = job.trigger.max_runs
    if limit is not None and cursor.runs >= limit:
        planned = Plan(_finished(cursor))
    else:
        walk = _walk(job, cursor, now, end, in_maintenance)
        planned = _record(job, cursor, walk, now, absence, gate=gate)
    if settled is not None:
        planned.executions[:0], planned.skips[:0] = settled.executions, settled.skips
    planned.release_at = release_at
    return planned


def first_cursor(job: Job, now: int) -> Cursor:
    """The cursor of a job that is saved now: fire times later than now are to come.

    A `Once` that lies in the past, but within the grace, is still to come as well.
    """
    trigger, after = job.trigger, now
    upcoming = trigger.after(now)
    if upcoming is None and not trigger.follows_finish:
        late = trigger.after(now - job.misfire.grace - 1)
        if late is not None and trigger.after(late) is None:
            after, upcoming = late - 1, late
    state = JobState.ACTIVE
    if upcoming is None and not isinstance(trigger, OnDemand):
        state = JobState.FINISHED
    return Cursor(state=state, next_fire_time=upcoming, after=after)


def counted(job: Job, cursor: Cursor, runs: int) -> Cursor:
    """The cursor after this number of runs; finished if `max_runs` allows no more."""
    limit = job.trigger.max_runs
    cursor = replace(cursor, runs=runs)
    return _finished(cursor) if limit is not None and runs >= limit else cursor


def resumed(cursor: Cursor, now: int) -> Cursor:
    """The cursor of a job whose pause is over by now: no outage, what it passed is skipped.

    A pause with an end covers what is earlier than the end, a person's resuming all up to now.
    """
    until = _pause_end(cursor)
    through = now if until is None else min(now, until - 1)
    return replace(
        cursor,
        state=JobState.ACTIVE,
        pause=None,
        next_fire_time=now,
        nudged=True,
        paused_through=max(through, cursor.paused_through or through),
    )


def _held(cursor: Cursor, under: Pause, end: int) -> Cursor:
    """Paused by a planner that met the job although its project is paused: it was added just now.

    What this planner knows may be a moment old, so the job is looked at again.
    """
    look = end + HELD_FOR
    again = look if under.until is None else min(look, under.until)
    return replace(cursor, state=JobState.PAUSED, pause=under, next_fire_time=again, nudged=False)


def _pause_over(cursor: Cursor, now: int, end: int) -> int | None:
    """When the pause of the job has ended, or ends before this instant; None: it goes on."""
    until = _pause_end(cursor)
    if until is not None and until <= end:
        return until
    if cursor.state is not JobState.PAUSED or is_paused_alone(cursor, end):
        return None
    # Only a planner that held it has the job looked at before; no pause covers it any more.
    look = cursor.next_fire_time
    return now if look is not None and look <= end else None


def is_paused(cursor: Cursor, now: int) -> bool:
    """Whether the job is paused, and the pause is not over by itself."""
    return cursor.state is JobState.PAUSED and (cursor.pause is None or cursor.pause.lasts(now))


def is_paused_alone(cursor: Cursor, now: int) -> bool:
    """Whether a pause of the job's own is in force, rather than one of its project."""
    scope = PauseScope.JOB if cursor.pause is None else cursor.pause.scope
    return scope is PauseScope.JOB and is_paused(cursor, now)


def _pause_end(cursor: Cursor) -> int | None:
    return cursor.pause.until if cursor.pause else None


def new_execution(
    job: Job, fire_time: int, *, id: str, kind: Kind, overlap: Overlap, payload: Any = None
) -> NewExecution:
    """An execution of the job at a fire time, later by its jitter."""
    run_at = fire_time + (_jitter(job, fire_time) if kind is Kind.FIRE else 0)
    gate, limit = job.gate_of(payload)
    return NewExecution(
        id=id,
        job=job,
        kind=kind,
        fire_time=fire_time,
        run_at=run_at,
        rank=rank(run_at, job.priority),
        overlap=overlap,
        payload=payload,
        gate=gate,
        limit=limit,
    )


def fire_of(job: Job, fire_time: int) -> NewExecution:
    """The execution of a fire time of the trigger."""
    id = execution_id(job.id, fire_time)
    return new_execution(job, fire_time, id=id, kind=Kind.FIRE, overlap=_overlap(job))


def _jitter(job: Job, fire_time: int) -> int:
    """A hash of project, name and fire time: a job that is made again spreads as it did before."""
    jitter = job.trigger.jitter
    return spread(f"{job.project}/{job.name}/{fire_time}", jitter + 1) if jitter else 0


@dataclass(slots=True)
class _Walk:
    """The unanswered fire times of a job, oldest first."""

    #: Within a pause that has ended.
    paused: list[int] = field(default_factory=list)
    #: Skipped whatever the misfire policy says, and why.
    skipped: list[tuple[int, Reason]] = field(default_factory=list)
    #: Older than the grace.
    missed: list[int] = field(default_factory=list)
    #: Inside the grace or to come within the horizon.
    recent: list[int] = field(default_factory=list)
    #: The first fire time that is left over.
    upcoming: int | None = None
    #: Where a search for it was given up: up to here, inclusive, nothing more fires.
    quiet_through: int | None = None
    #: The chunk was full before the walk reached the horizon.
    cut: bool = False

    @property
    def is_partial(self) -> bool:
        """Whether there may be more up to the horizon."""
        return self.cut or self.quiet_through is not None


def _walk(
    job: Job,
    cursor: Cursor,
    now: int,
    end: int,
    in_maintenance: Callable[[int], bool] | None,
) -> _Walk:
    walk = _Walk()
    trigger, single, work = job.trigger, job.trigger.follows_finish, Work()
    paused_through = cursor.paused_through
    may_skip = bool(cursor.skipped) or in_maintenance is not None
    grace_start = now - job.misfire.grace
    fire: int | None = cursor.next_fire_time
    later = trigger.between(cursor.after if cursor.nudged or fire is None else fire, NEVER, work)
    if cursor.nudged:
        fire = next(later, None)
    if single:  # its next fire is known when its run has ended
        later = iter(())
    for _ in range(1 if single else CHUNK):
        if fire is None or fire > end or (work.used > TOIL and _has_moved(job, walk)):
            break
        if paused_through is not None and fire <= paused_through:
            walk.paused.append(fire)
        elif may_skip and (reason := _skipped_as(fire, cursor, in_maintenance)) is not None:
            walk.skipped.append((fire, reason))
        elif fire < grace_start:
            walk.missed.append(fire)
        else:
            walk.recent.append(fire)
        fire = next(later, None)
    walk.upcoming = fire
    if fire is None and work.gave_up:
        walk.quiet_through = max(work.reached or cursor.after, cursor.after)
    walk.cut = fire is not None and fire <= end
    if walk.cut and not walk.recent:
        _hold_back(job, walk)
    return walk


def _skipped_as(
    fire: int, cursor: Cursor, in_maintenance: Callable[[int], bool] | None
) -> Reason | None:
    if fire in cursor.skipped:
        return Reason.BY_PERSON
    is_in = in_maintenance is not None and in_maintenance(fire)
    return Reason.MAINTENANCE if is_in else None


def _has_moved(job: Job, walk: _Walk) -> bool:
    """Whether the next plan begins later than this one if it ends here: see `_hold_back`."""
    return (
        bool(walk.paused or walk.skipped or walk.recent) or len(walk.missed) > 2 * job.misfire.cap
    )


def _hold_back(job: Job, walk: _Walk) -> None:
    """Of a full chunk, leave the newest to the next plan: they may be among those to catch up."""
    held = walk.missed[-job.misfire.cap :]
    if held:
        del walk.missed[-len(held) :]
        walk.upcoming = held[0]


def _choose(job: Job, walk: _Walk, now: int) -> list[int]:
    """The fire times that become executions, oldest first, before `max_runs` is applied."""
    policy = job.misfire
    if walk.cut and not walk.recent:
        return []
    if policy.policy is OnMisfire.LATEST and not (walk.recent and walk.recent[0] <= now):
        return walk.missed[-1:] + walk.recent
    if policy.policy is OnMisfire.ALL:
        since = now - policy.catchup_window
        return [fire for fire in walk.missed[-policy.cap :] if fire >= since] + walk.recent
    return walk.recent


def _record(
    job: Job,
    cursor: Cursor,
    walk: _Walk,
    now: int,
    absence: Absence | None,
    *,
    gate: BacklogGate | None,
) -> Plan:
    chosen, missed, skipped = _choose(job, walk, now), walk.missed, walk.skipped
    held = not_admitted(job, missed, chosen, gate)
    chosen = chosen[len(held) :]
    limit = job.trigger.max_runs
    is_last = limit is not None and cursor.runs + len(chosen) >= limit
    if limit is not None and is_last:
        chosen = chosen[: limit - cursor.runs]
        # What comes after the last run is no fire time any more.
        missed = [fire for fire in missed if fire < chosen[-1]]
        skipped = [each for each in skipped if each[0] < chosen[-1]]
    skips = _range(job, walk.paused, Reason.PAUSED)
    skips += _misfires(job, missed, held + chosen, skipped)
    moved = replace(
        cursor,
        after=max([cursor.after, *chosen[-1:], *missed[-1:], *(skip.last for skip in skips)]),
        runs=cursor.runs + len(chosen),
        nudged=False,
        paused_through=cursor.paused_through if walk.is_partial else None,
        next_fire_time=walk.upcoming,
        skipped=_still_skipped(job, cursor, now) if cursor.skipped else (),
    )
    moved, superseded = holding(job, moved, consecutive(held, skipped), now, gate)
    skips += superseded
    if is_last:
        moved = _finished(moved)
    elif walk.quiet_through is not None:
        moved = _searching(moved, walk.quiet_through, now)
    elif job.trigger.follows_finish and not chosen and skips:
        # A skipped run has no end to count from: it counts from now, or from the end of the pause.
        moved = replace(moved, after=max(moved.after, now, cursor.paused_through or now))
        moved = _settled(job, replace(moved, next_fire_time=job.trigger.after(moved.after)))
    elif not (job.trigger.follows_finish and chosen):
        moved = _settled(job, moved)
    moved = look_at_backlog(moved)
    executions = [fire_of(job, fire) for fire in chosen]
    if absence is not None and not job.trigger.follows_finish:
        for new in executions:
            if new.run_at <= now:
                new.overlap = absence.overlap(new.overlap, new.run_at)
    return Plan(moved, executions, skips, more=walk.cut and not is_last)


@dataclass(slots=True)
class Answered:
    """What became of a backlog."""

    #: It holds nothing any more.
    cursor: Cursor
    executions: list[NewExecution] = field(default_factory=list)
    skips: list[RangeSkip] = field(default_factory=list)


def answer_backlog(
    job: Job, cursor: Cursor, answer: BacklogAnswer, start: int = 0, spacing: float = 0.0
) -> Answered:
    """Answer each fire time that the job holds, by an execution or a skip.

    With `ALL` the first starts at `start`, and each one after it `spacing` milliseconds later. They
    wait for each other if the job's runs may not overlap: none was live at the instant of another.
    """
    if cursor.backlog is None:
        return Answered(cursor)
    chosen, ranges = divided(job, cursor.backlog, answer)
    executions = [fire_of(job, fire) for fire in chosen]
    for number, new in enumerate(executions):
        new.overlap = Absence().overlap(new.overlap, new.run_at)
        if answer is BacklogAnswer.ALL:
            new.run_at = start + round(number * spacing)
            new.rank = rank(new.run_at, job.priority)
    moved = replace(cursor, backlog=None, runs=cursor.runs + len(executions))
    return Answered(moved, executions, passed_over(job, ranges))


def _still_skipped(job: Job, cursor: Cursor, now: int) -> tuple[int, ...]:
    """Those whose instant is to come: until then an edit, a pause or a recall may plan it anew."""
    return tuple(fire for fire in cursor.skipped if fire + job.trigger.jitter > now)


def _overlap(job: Job) -> Overlap:
    """Who counts from the end of the run before never runs beside it.

    One that was paused and resumed meanwhile is planned for a time before that end.
    """
    beside = job.trigger.follows_finish and job.overlap is Overlap.ALLOW
    return Overlap.SKIP if beside else job.overlap


def _searching(cursor: Cursor, quiet_through: int, now: int) -> Cursor:
    """The search was given up: it goes on from where it came to, when that time has come."""
    if quiet_through <= cursor.after:
        return replace(cursor, next_fire_time=now + LATER, nudged=True)
    return replace(cursor, after=quiet_through, next_fire_time=quiet_through, nudged=True)


def _settled(job: Job, cursor: Cursor) -> Cursor:
    """Finished when nothing is to come but by request; not while fire times are held."""
    over = cursor.next_fire_time is None and cursor.backlog is None
    if over and not isinstance(job.trigger, OnDemand):
        return _finished(cursor)
    return cursor


def _finished(cursor: Cursor) -> Cursor:
    return replace(
        cursor,
        state=JobState.FINISHED,
        next_fire_time=None,
        nudged=False,
        paused_through=None,
    )


def _misfires(
    job: Job, missed: list[int], chosen: list[int], skipped: list[tuple[int, Reason]]
) -> list[RangeSkip]:
    """Missed fire times that do not run, as one range: a row beats a range.

    Those that are skipped for another reason divide it: no fire time is in two ranges.
    """
    caught_up = set(chosen)
    left = [fire for fire in missed if fire not in caught_up]
    if not skipped:
        return _range(job, left, Reason.MISFIRE)
    both = [(fire, Reason.MISFIRE) for fire in left] + skipped
    found = []
    for reason, group in groupby(sorted(both), key=lambda each: each[1]):
        fires = [fire for fire, _ in group]
        # A range of theirs could cover a run between them.
        parts = [fires] if reason is Reason.MISFIRE else _parted(fires, reason, chosen)
        found += [skip for part in parts for skip in _range(job, part, reason)]
    return found


def _parted(fires: list[int], reason: Reason, runs: list[int]) -> list[list[int]]:
    """Those that a person skipped one by one, each to be undone; others between two runs."""
    if reason is Reason.BY_PERSON:
        return [[fire] for fire in fires]
    return [[*part] for _, part in groupby(fires, key=lambda fire: bisect(runs, fire))]


def _range(job: Job, fires: list[int], reason: Reason) -> list[RangeSkip]:
    if not fires:
        return []
    return [
        RangeSkip(job_id=job.id, first=fires[0], last=fires[-1], count=len(fires), reason=reason)
    ]
