"""G3, G10, G11: what a plan answers equals the formulas of the policy, whatever the clock does."""

from dataclasses import replace
from unittest import mock

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.property.policy.jobs import HOUR, MINUTE, SECOND, instants, jobs, make_job
from tests.property.policy.oracle import answers_of, count_answers, expected, plan_all
from tickwell.domain import planning
from tickwell.domain.job import Cursor, JobState, Pause
from tickwell.domain.planning import first_cursor, plan
from tickwell.domain.trigger import Every
from tickwell.domain.trigger.duration import Millis

horizons = st.sampled_from([0, 1, 2 * SECOND, 10 * MINUTE])
#: From far more than all missed fire times to hardly more than those that are held back.
chunks = st.sampled_from([9, 10, 17, 10_000])


def unanswered(job, cursor, end):
    return list(job.trigger.between(cursor.after, end))


def runs_left(job, cursor):
    return None if job.trigger.max_runs is None else job.trigger.max_runs - cursor.runs


@settings(max_examples=500)
@given(
    job=jobs,
    saved_at=instants(),
    outage=st.sampled_from([0, 3 * HOUR]) | st.integers(0, 3 * HOUR),
    horizon=horizons,
    runs=st.integers(0, 4),
    chunk=chunks,
)
def test_an_outage_ends_as_the_policy_says(*, job, saved_at, outage, horizon, runs, chunk):
    cursor = replace(first_cursor(job, saved_at), runs=runs)
    now = saved_at + outage
    fires = unanswered(job, cursor, now + horizon) if cursor.next_fire_time else []
    left = runs_left(job, cursor)
    wanted = expected(
        fires if left is None or left > 0 else [], job.misfire, now=now, runs_left=left
    )
    with mock.patch.object(planning, "CHUNK", chunk):
        plans = plan_all(job, cursor, now, horizon)
        assert plans == plan_all(job, cursor, now, horizon)
    assert answers_of(job, plans) == wanted
    assert all(len(each.skips) <= 1 for each in plans)
    moved = plans[-1].cursor
    assert moved.runs == runs + len(wanted.executed)
    is_over = left is not None and len(wanted.executed) >= left
    upcoming = None if is_over else job.trigger.after(now + horizon)
    if cursor.next_fire_time is not None:
        upcoming = upcoming if upcoming is None else max(upcoming, cursor.next_fire_time)
        assert moved.next_fire_time == upcoming
    assert moved.state is (JobState.ACTIVE if moved.next_fire_time else JobState.FINISHED)


@given(
    jobs,
    instants(),
    st.lists(
        st.tuples(
            st.integers(0, 40 * MINUTE) | st.sampled_from([-2 * HOUR, 12 * HOUR, 0]), horizons
        ),
        max_size=12,
    ),
    chunks,
)
def test_every_fire_time_is_answered_exactly_once(job, saved_at, steps, chunk):
    cursor = first_cursor(job, saved_at)
    begin = reached = cursor.after
    now, plans = saved_at, []
    with mock.patch.object(planning, "CHUNK", chunk):
        for step, horizon in steps:
            now += step
            before = cursor
            plans += plan_all(job, cursor, now, horizon)
            cursor = plans[-1].cursor
            reached = max(reached, now + horizon)
            assert cursor.after >= before.after
    if cursor.state is JobState.FINISHED:
        reached = min(reached, cursor.after)
    counted = count_answers(answers_of(job, plans))
    assert set(counted.values()) <= {1}
    assert sorted(counted) == list(job.trigger.between(begin, reached))
    if job.trigger.max_runs is not None:
        assert cursor.runs <= job.trigger.max_runs


@given(jobs, instants(), st.integers(0, 3 * HOUR), st.integers(1, 3 * HOUR), chunks)
def test_a_pause_with_an_end_is_skipped_as_paused(job, saved_at, wait, length, chunk):
    since = saved_at + wait
    until = since + length
    planned = plan_all(job, first_cursor(job, saved_at), since, 0)[-1].cursor
    note = Pause(by="ann", why="move", since=since, until=until)
    held = replace(planned, state=JobState.PAUSED, pause=note, next_fire_time=until)
    assert plan(job, held, until - 3, 2) == planning.Plan(held)
    left = runs_left(job, held)
    fires = unanswered(job, held, until) if left is None or left > 0 else []
    with mock.patch.object(planning, "CHUNK", chunk):
        plans = plan_all(job, held, until, 0)
    wanted = expected(fires, job.misfire, now=until, runs_left=left, paused_through=until - 1)
    assert answers_of(job, plans) == wanted
    assert plans[0].release_at == until
    assert plans[-1].cursor.pause is None


@given(st.integers(100, HOUR), st.sampled_from([0, 5000, HOUR]), instants())
def test_counted_from_the_end_there_is_one_fire_at_a_time(period, late, ended_at):
    job = make_job(Every(Millis(period), after="finish"))
    ended = Cursor(after=ended_at, next_fire_time=ended_at, nudged=True)
    ahead = plan(job, ended, ended_at, 0)
    assert ahead.executions == []
    assert ahead.cursor.next_fire_time == ended_at + period
    due = plan(job, ahead.cursor, ended_at + period + late, 0)
    assert [new.fire_time for new in due.executions] == [ended_at + period]
    assert due.cursor.next_fire_time is None
    assert due.cursor.state is JobState.ACTIVE
    assert plan(job, due.cursor, ended_at + 10 * period, 0).executions == []


@given(instants(), st.integers(0, 10 * HOUR))
def test_a_paused_run_counted_from_the_end_counts_from_resuming(after, length):
    job = make_job(Every("5m", after="finish"))
    note = Pause(by="ann", why="", since=after)
    held = Cursor(state=JobState.PAUSED, after=after, pause=note)
    now = after + length
    resumed = plan(job, planning.resumed(held, now), now, 0)
    passed = length >= 5 * MINUTE
    assert [skip.count for skip in resumed.skips] == [1] * passed
    assert resumed.cursor.next_fire_time == (now if passed else after) + 5 * MINUTE
