"""Which pause a project follows, and what a planner makes of a job under it."""

from dataclasses import replace

import pytest

from tickwell.domain.change import align, pause, resume
from tickwell.domain.execution import RangeSkip, Reason
from tickwell.domain.job import Entry, Job, JobState, Pause
from tickwell.domain.planning import HELD_FOR, first_cursor, plan
from tickwell.domain.policy import MINUTE, SECOND
from tickwell.domain.project_pause import (
    EVERYTHING,
    Phase,
    ProjectPause,
    covering,
    from_document,
    scope_of,
    to_document,
)
from tickwell.domain.target import Call
from tickwell.domain.trigger import Every
from tickwell.errors import WrongState

#: 15 June 2026, 10:00 UTC.
TEN = 1_781_517_600_000
JOB = Job(
    id="job", name="report", trigger=Every("1m"), target=Call("x"), saved_at=TEN, created_at=TEN
)
ACTIVE = Entry(JOB, first_cursor(JOB, TEN))


def noted(project="default", since=TEN, until=None):
    return Pause(by="ann", why="move", since=since, until=until, scope=scope_of(project))


def paused(project="default", **fields):
    return ProjectPause(project=project, pause=noted(project, **fields))


def changed(entry, changer, now=TEN):
    made = changer(entry, now)
    return entry if made is None else Entry(entry.job, made.cursor)


def test_everything_goes_before_the_project_and_other_projects_do_not_matter():
    one, every = paused("one"), paused(EVERYTHING)
    assert covering([one, every], "one", TEN) == every.pause
    assert covering([one], "one", TEN) == one.pause
    assert covering([one], "two", TEN) is None
    assert covering([one, every], "two", TEN) == every.pause


def test_a_pause_covers_until_its_end_or_until_it_is_ended():
    short = paused(until=TEN + MINUTE)
    assert covering([short], "default", TEN + MINUTE - 1) == short.pause
    assert covering([short], "default", TEN + MINUTE) is None
    assert covering([replace(paused(), phase=Phase.ENDING)], "default", TEN) is None


@pytest.mark.parametrize("project", ["default", EVERYTHING])
def test_a_record_keeps_all_of_it(project):
    pause = replace(paused(project, until=TEN + 1), phase=Phase.ENDING, ended_at=TEN)
    assert from_document(project, to_document(pause)) == pause


def test_a_planner_holds_an_active_job_and_looks_again():
    made = plan(JOB, ACTIVE.cursor, TEN, 2 * SECOND, under=noted())
    assert (made.executions, made.skips) == ([], [])
    assert (made.cursor.state, made.cursor.pause) == (JobState.PAUSED, noted())
    assert made.cursor.next_fire_time == TEN + 2 * SECOND + HELD_FOR


def test_it_looks_again_no_later_than_the_end():
    made = plan(JOB, ACTIVE.cursor, TEN, 0, under=noted(until=TEN + SECOND))
    assert made.cursor.next_fire_time == TEN + SECOND


def test_an_end_within_the_horizon_divides_what_is_planned():
    at = TEN + 2 * MINUTE
    made = plan(JOB, ACTIVE.cursor, at - SECOND, 2 * SECOND, under=noted(until=at))
    assert [new.fire_time for new in made.executions] == [at]
    first = TEN + MINUTE
    assert made.skips == [
        RangeSkip(job_id="job", first=first, last=first, count=1, reason=Reason.PAUSED)
    ]
    assert made.release_at == at


@pytest.mark.parametrize("until", [None, TEN + 10 * MINUTE])
def test_a_job_that_was_held_goes_on_once_nothing_covers_it(until):
    held = plan(JOB, ACTIVE.cursor, TEN + MINUTE, 0, under=noted(until=until)).cursor
    look = TEN + MINUTE + HELD_FOR
    assert held.next_fire_time == look
    made = plan(JOB, held, look, 0)
    assert (made.cursor.state, made.cursor.next_fire_time) == (JobState.ACTIVE, TEN + 2 * MINUTE)
    assert [(skip.first, skip.count) for skip in made.skips] == [(TEN + MINUTE, 1)]
    assert made.release_at == look


def test_a_pause_of_the_job_that_ends_meanwhile_gives_way_to_that_of_its_project():
    own = changed(ACTIVE, pause("bob", "mine", TEN + MINUTE))
    assert plan(JOB, own.cursor, TEN, 0, under=noted()).cursor == own.cursor
    made = plan(JOB, own.cursor, TEN + MINUTE, 0, under=noted())
    assert (made.cursor.pause, made.executions, made.release_at) == (noted(), [], None)


def test_a_job_follows_its_project_and_keeps_a_pause_of_its_own():
    following = changed(ACTIVE, align(noted()))
    assert (following.cursor.pause, following.cursor.next_fire_time) == (noted(), None)
    assert align(noted())(following, TEN + 1) is None
    later = changed(following, align(noted(until=TEN + MINUTE)), TEN + 1)
    assert later.cursor.next_fire_time == TEN + MINUTE
    assert changed(later, align(None), TEN + 2).cursor.state is JobState.ACTIVE
    own = changed(following, pause("bob", ""), TEN + 1)
    assert own.cursor.pause == Pause(by="bob", why="", since=TEN + 1)
    assert align(None)(own, TEN + 2) is None


def test_a_job_that_failed_before_the_pause_has_failed_after_it():
    failing = Entry(JOB, replace(ACTIVE.cursor, failures=3))
    resumed = changed(changed(failing, align(noted())), align(None), TEN + 1)
    assert resumed.cursor.failures == 3


def test_a_job_is_not_resumed_apart_from_its_project():
    following = changed(ACTIVE, align(noted()))
    with pytest.raises(WrongState, match="paused with its project; only resuming that"):
        resume(noted())(following, TEN + 1)
    # Nothing covers it any more, and no planner has looked.
    assert changed(following, resume(), TEN + 1).cursor.state is JobState.ACTIVE
