"""What an edit, a pause, a resume or a deletion does to a job: pure, applied by stores."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

from tickwell.domain.backlog import Backlog, BacklogAnswer
from tickwell.domain.coverage import planned_ahead, within
from tickwell.domain.execution import Execution, NewExecution, RangeSkip, Reason
from tickwell.domain.holding import look_at_backlog, passed_over
from tickwell.domain.job import Cursor, Entry, Job, JobState, Pause, PauseScope
from tickwell.domain.occurrence import (
    instant_text,
    is_fire_time,
    require_fire_time,
    require_to_come,
)
from tickwell.domain.planning import (
    WAITING_IN_LINE,
    Plan,
    answer_backlog,
    fire_of,
    first_cursor,
    is_paused,
    is_paused_alone,
    plan,
    resumed,
)
from tickwell.domain.policy import HOUR
from tickwell.errors import InvalidInput, NotFound, VersionConflict, WrongState


class Pending(StrEnum):
    """What a change does to executions of the job that no worker has claimed.

    What is claimed but not due yet gets a cancel request wherever something is taken back.
    """

    #: Nothing.
    KEEP = "keep"
    #: Fires later than now are withdrawn, to be planned anew; the rest gets the new version.
    RESTAMP = "restamp"
    #: Fires that never started are withdrawn; retries and requested runs are held.
    HOLD = "hold"
    #: What was held may go on.
    RELEASE = "release"
    #: Fires that never started are withdrawn; retries and requested runs are cancelled.
    END = "end"
    #: The fires named by the change are skipped as misfires, to be planned anew; the rest stays.
    RECALL = "recall"


@dataclass(slots=True, kw_only=True)
class Change:
    """A new definition or a new cursor, and what goes along with it in the same write."""

    cursor: Cursor
    #: None: the definition stays.
    job: Job | None = None
    pending: Pending = Pending.KEEP
    executions: list[NewExecution] = field(default_factory=list)
    skips: list[RangeSkip] = field(default_factory=list)
    #: With `Pending.RECALL`: the fire times. Stores ask `leave_out` for what was recalled before.
    recalled: frozenset[int] = frozenset()

    @property
    def reason(self) -> Reason:
        """Why what it takes back is skipped."""
        return Reason.MISFIRE if self.pending is Pending.RECALL else Reason.WITHDRAWN


#: Given what the store holds now, what is to become of it; called again if it changed meanwhile.
Changer = Callable[[Entry, int], Change | None]


@dataclass(slots=True, kw_only=True)
class Changed:
    """What a change did."""

    entry: Entry
    #: Executions taken back before a worker claimed them.
    withdrawn: int = 0
    #: Why those are skipped.
    reason: Reason = Reason.WITHDRAWN
    #: Executions that a worker holds for their instant, asked to give up.
    cancelling: int = 0


#: Further ahead than this nothing is planned: a cursor that is has seen the clock go back.
AHEAD = HOUR
#: Occurrences of a job that may be skipped ahead of time: the cursor carries them.
MOST_SKIPPED = 100
#: How many chunks of unanswered fire times one change walks over, so that none takes long.
CHUNKS = 10


def edit(new: Job, expected_version: int | None = None) -> Changer:
    """Replace the definition; the version before answers for everything up to now.

    What it holds of missed fire times is passed over if the new one fires at others.
    """

    def change(entry: Entry, now: int) -> Change:
        old = entry.job
        _expect(entry, expected_version)
        answered = _answer(entry, now)
        job = replace(
            new,
            id=old.id,
            project=old.project,
            version=old.version + 1,
            created_at=old.created_at,
            saved_at=max(_since(answered, now), min(old.saved_at, answered.cursor.after)),
        )
        fresh = _first(job, max(answered.cursor.after, old.saved_at))
        cursor, skips = _successor(entry, answered, job, fresh, now), answered.skips
        if job.trigger == old.trigger:
            cursor = _still_holding(cursor, answered.cursor.backlog)
        else:
            skips += _given_up(old, answered.cursor)
        return Change(
            cursor=cursor,
            job=replace(job, saved_at=fresh.after),
            pending=Pending.RESTAMP,
            executions=answered.executions,
            skips=skips,
        )

    return change


def pause(by: str, why: str, until: int | None = None) -> Changer:
    """Stop firing, until someone resumes or the instant comes.

    Asked for again with neither a reason nor an end, the pause that is there stays as it is: one
    with an end does not become one for ever.
    """

    def change(entry: Entry, now: int) -> Change:
        _expect(entry, None)
        answered = _answer(entry, now)
        noted, there = Pause(by=by, why=why, since=now, until=until), entry.cursor.pause
        if is_paused_alone(entry.cursor, now) and there and not why and until is None:
            noted = there
        return _pausing(entry, answered, noted, now)

    return change


def resume(under: Pause | None = None) -> Changer:
    """Fire again from now on; what the pause passed over becomes one range skip.

    Under a pause of its project or of everything, the job goes on with that one.
    """

    def change(entry: Entry, now: int) -> Change:
        cursor = entry.cursor
        if cursor.state is not JobState.PAUSED:
            raise WrongState("job", entry.job.name, cursor.state, "a paused job can be resumed")
        if cursor.pause is not None and cursor.pause.scope is not PauseScope.JOB and under:
            remedy = "resuming that resumes the job"
            raise WrongState("job", entry.job.name, f"paused with {_SCOPES[under.scope]}", remedy)
        # Resuming means that the cause is mended: earlier deaths no longer count.
        if under is not None:
            return Change(cursor=replace(_paused(cursor, under), failures=0))
        return Change(cursor=replace(resumed(cursor, now), failures=0), pending=Pending.RELEASE)

    return change


_SCOPES = {PauseScope.PROJECT: "its project", PauseScope.PLATFORM: "everything"}


def align(under: Pause | None) -> Changer:
    """Pause the job with its project or with everything; None: end such a pause.

    A pause of the job's own goes on, whatever becomes of the others.
    """

    def change(entry: Entry, now: int) -> Change | None:
        cursor = entry.cursor
        if cursor.state is JobState.DELETED or is_paused_alone(cursor, now):
            return None
        if under is not None:
            if not is_paused(cursor, now):
                return _pausing(entry, _answer(entry, now), under, now)
            paused = _paused(cursor, under)  # with another end, or with everything now
            if paused == cursor:
                return None
            return Change(cursor=paused, pending=Pending.HOLD)
        if cursor.pause is None or cursor.pause.scope is PauseScope.JOB:
            return None
        return Change(cursor=resumed(cursor, now), pending=Pending.RELEASE)

    return change


def _pausing(entry: Entry, answered: Plan, noted: Pause, now: int) -> Change:
    # The cursor goes back over what is withdrawn, so that an early resume plans it again.
    planned_through, skips = answered.cursor.after, answered.skips
    after = min(planned_through, max(_since(answered, now), entry.job.saved_at))
    if after < planned_through and not entry.job.trigger.follows_finish:
        # Each of those has its row: withdrawn, or started by a worker that held it already. From
        # the cursor on, so that it does not hold for a definition that is saved at this instant.
        skips = [*skips, planned_ahead(entry.job, after, planned_through)]
    return Change(
        cursor=_paused(replace(answered.cursor, after=after), noted),
        pending=Pending.HOLD,
        executions=answered.executions,
        skips=skips,
    )


def skip(at: int, *, planned: bool = False) -> Changer:
    """Skip one occurrence before it comes. Planned: its execution is on record, and waits.

    The mark stays until its instant, so that an edit or a resume does not plan it anew.
    """

    def change(entry: Entry, now: int) -> Change | None:
        _expect(entry, None)
        cursor = entry.cursor
        if at in cursor.skipped:
            return None
        require_to_come(entry, at, now)
        if not planned:
            require_fire_time(entry, at, now)
        if len(cursor.skipped) >= MOST_SKIPPED:
            raise InvalidInput(
                f"{MOST_SKIPPED} occurrences of the job are skipped already",
                field="at",
                hint="Pause the job for a time instead",
            )
        return Change(cursor=replace(cursor, skipped=tuple(sorted((*cursor.skipped, at)))))

    return change


def unskip(at: int, *, planned: bool = False) -> Changer:
    """Undo the skip of an occurrence before it comes. Planned: its skipped execution is on record.

    Where a plan has answered it, its execution is recorded after all, or armed again.
    """

    def change(entry: Entry, now: int) -> Change:
        _expect(entry, None)
        job, cursor = entry.job, entry.cursor
        require_to_come(entry, at, now)
        if at not in cursor.skipped:
            raise InvalidInput(
                f"the occurrence of {job.name} at {instant_text(at)} is not skipped", field="at"
            )
        kept = replace(cursor, skipped=tuple(each for each in cursor.skipped if each != at))
        if not planned and (at > cursor.after or not is_fire_time(entry, at)):
            return Change(cursor=kept)
        if cursor.state is JobState.PAUSED:
            raise WrongState("job", job.name, "paused", "an active job takes up what it planned")
        limit = job.trigger.max_runs
        if limit is not None and cursor.runs >= limit:
            raise WrongState("job", job.name, "at its last run", "a job with runs left runs it")
        kept = replace(kept, runs=cursor.runs + 1)
        if job.trigger.follows_finish:
            kept = replace(kept, after=at, next_fire_time=None, nudged=False)
        armed = fire_of(job, at)
        armed.backfill = True
        return Change(cursor=kept, executions=[armed])

    return change


def answer_held(
    answer: BacklogAnswer, starts: Mapping[str, int] | None = None, spacing: float = 0.0
) -> Changer:
    """Answer the missed fire times that a job holds: by none, by the newest one, or by all.

    Starts: by job id, when the first of all starts, now unless it has one. A paused job runs
    nothing, so it holds them until it is resumed, or until they are skipped.
    """

    def change(entry: Entry, now: int) -> Change | None:
        cursor = entry.cursor
        if cursor.backlog is None or cursor.state is JobState.DELETED:
            return None
        if answer is not BacklogAnswer.SKIP and cursor.state is JobState.PAUSED:
            return None
        start = (starts or {}).get(entry.job.id, now)
        made = answer_backlog(entry.job, cursor, answer, start, spacing)
        if made.cursor.state is JobState.ACTIVE:  # what it had to look at may be over
            made.cursor = replace(made.cursor, next_fire_time=now, nudged=True)
        return Change(cursor=made.cursor, executions=made.executions, skips=made.skips)

    return change


def delete(expected_version: int | None = None, *, first: bool = False) -> Changer:
    """Take the job away; its history stays until retention ends.

    One that is deleted already stays so; for a caller that has to be the first it does not exist.
    """

    def change(entry: Entry, now: int) -> Change | None:
        if entry.cursor.state is JobState.DELETED:
            if first:
                raise NotFound("job", entry.job.name)
            return None
        _expect(entry, expected_version)
        answered = _answer(entry, now)
        cursor = replace(
            answered.cursor, state=JobState.DELETED, next_fire_time=None, pause=None, backlog=None
        )
        return Change(
            cursor=cursor,
            pending=Pending.END,
            executions=answered.executions,
            skips=answered.skips + _given_up(entry.job, answered.cursor),
        )

    return change


def to_recall(
    entry: Entry, due: Sequence[Execution], now: int, *, in_doubt: bool = False
) -> list[int]:
    """Which fires to recall, of those that came due while no process was there: fire times.

    Those late beyond the grace; and where several are due that would be skipped as overlapping,
    all of them, since none of them was live at the instant of another. In doubt: so is one alone,
    since the store knows of a run that may have ended before it.
    """
    job, upcoming = entry.job, entry.cursor.next_fire_time
    # What was put off, revived or backfilled is due later than its fire time.
    planned = [one for one in due if one.run_at - one.fire_time <= job.trigger.jitter]
    several = len(planned) + (upcoming is not None and upcoming <= now) > 1
    if (several or in_doubt) and job.overlap in WAITING_IN_LINE and not job.trigger.jitter:
        return [one.fire_time for one in planned]
    return [one.fire_time for one in planned if one.run_at < now - job.misfire.grace]


def recall(fire_times: Collection[int]) -> Changer:
    """Take back fires that came due while no process was there, so that the policy decides.

    They were planned ahead and have not started. The cursor goes back over them: the planner
    answers them together with the fire times that it missed. What has started meanwhile stays:
    its id is taken.
    """

    def change(entry: Entry, now: int) -> Change | None:
        cursor = entry.cursor
        # What an earlier version planned is not for this one to plan again.
        fires = frozenset(fire for fire in fire_times if fire > entry.job.saved_at)
        if cursor.state not in {JobState.ACTIVE, JobState.FINISHED} or not fires:
            return None
        rewound = replace(
            cursor,
            state=JobState.ACTIVE,
            after=min(cursor.after, min(fires) - 1),
            next_fire_time=now,
            nudged=True,
        )
        # What the cursor goes back over is on record: no range of the next plan counts it, in any
        # process, and no other recall takes it back again.
        on_record = RangeSkip(
            job_id=entry.job.id,
            first=min(fires),
            last=max(*fires, min(cursor.after, now)),
            count=0,
            reason=Reason.MISFIRE,
        )
        skips = [on_record]
        if cursor.after > on_record.last:
            skips.append(planned_ahead(entry.job, on_record.last + 1, cursor.after))
        return Change(cursor=rewound, pending=Pending.RECALL, recalled=fires, skips=skips)

    return change


def leave_out(made: Change, noted: Sequence[RangeSkip]) -> bool:
    """Leave out of a recall what was recalled before; False: nothing is left, and to be written.

    Several processes come back at once, and each recalls what it finds: by the second recall the
    fires may have been planned again. Noted: what of the change's ranges was not on record.
    """
    made.recalled = within(made.recalled, noted)
    return made.pending is not Pending.RECALL or bool(made.recalled)


def _expect(entry: Entry, version: int | None) -> None:
    if entry.cursor.state is JobState.DELETED:
        raise WrongState("job", entry.job.name, "deleted", "a job that exists can be changed")
    if version is not None and version != entry.job.version:
        raise VersionConflict(entry.job.name, version, entry.job.version)


def _answer(entry: Entry, now: int) -> Plan:
    """Answer what is due by the definition that was in force: no slot falls between versions."""
    cursor = resumed(entry.cursor, now) if is_paused(entry.cursor, now) else entry.cursor
    total = plan(entry.job, cursor, now, 0)
    for _ in range(CHUNKS - 1):
        if not total.more:
            break
        further = plan(entry.job, total.cursor, now, 0)
        total.executions += further.executions
        total.skips += further.skips
        total.cursor, total.more = further.cursor, further.more
    return total


def _since(answered: Plan, now: int) -> int:
    """From which instant on a new definition answers: now, unless the cursor is far from it.

    A job that is more chunks behind than one change may walk goes on from where the walk ended.
    """
    after = answered.cursor.after
    return after if answered.more or after - now > AHEAD else now


def _first(job: Job, answered: int) -> Cursor:
    """The first cursor of a new definition, which takes up nothing that is answered already."""
    fresh = first_cursor(job, job.saved_at)
    if fresh.after < min(answered, job.saved_at):
        return Cursor(state=JobState.FINISHED, after=job.saved_at)
    return fresh


def _successor(entry: Entry, answered: Plan, job: Job, fresh: Cursor, now: int) -> Cursor:
    """The first cursor of the new definition, with what the one before had counted."""
    before = answered.cursor
    fresh = replace(
        fresh, runs=before.runs, paused_through=before.paused_through, skipped=before.skipped
    )
    limit = job.trigger.max_runs
    if limit is not None and fresh.runs >= limit:
        fresh = replace(fresh, state=JobState.FINISHED, next_fire_time=None)
    elif job.trigger.follows_finish and _is_live(entry.job, before):
        fresh = replace(fresh, after=before.after, next_fire_time=None)
    return _paused(fresh, entry.cursor.pause) if is_paused(entry.cursor, now) else fresh


def _still_holding(cursor: Cursor, backlog: Backlog | None) -> Cursor:
    """The cursor of a new definition with the same trigger, which may have nothing else to come."""
    if backlog is None:
        return cursor
    state = JobState.ACTIVE if cursor.state is JobState.FINISHED else cursor.state
    return look_at_backlog(replace(cursor, state=state, backlog=backlog))


def _given_up(job: Job, cursor: Cursor) -> list[RangeSkip]:
    """What the job holds is passed over."""
    return [] if cursor.backlog is None else passed_over(job, cursor.backlog.ranges)


def _is_live(job: Job, cursor: Cursor) -> bool:
    """Whether the next fire time waits for the end of a run."""
    active = cursor.state is JobState.ACTIVE
    return active and job.trigger.follows_finish and cursor.next_fire_time is None


def _paused(cursor: Cursor, note: Pause | None) -> Cursor:
    until = note.until if note else None
    return replace(cursor, state=JobState.PAUSED, pause=note, next_fire_time=until, nudged=False)
