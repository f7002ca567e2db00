"""A search for a fire time that was given up goes on later: the job does not end with it."""

from datetime import UTC, date, datetime, timedelta

from tickwell.clock import to_millis
from tickwell.domain.job import Job, JobState
from tickwell.domain.planning import LATER, first_cursor, plan
from tickwell.domain.target import Call
from tickwell.domain.trigger import AnyOf, Calendar, Cron, Trigger, Window
from tickwell.domain.trigger.work import Work

MONDAYS = [date(2027, 1, 4) + timedelta(weeks=week) for week in range(52)]
SHUT = Calendar("shut", dates=MONDAYS)
HORIZON = 2_000


def job_of(trigger: Trigger) -> Job:
    return Job(id="j", name="j", trigger=trigger, target=Call("x"))


def monday(minute: int) -> Cron:
    open_then = Window(days="mon", tz="Europe/Rome")
    return Cron(f"{minute} 9 * * mon", within=[open_then], exclude=[SHUT])


def at(text: str) -> int:
    return to_millis(datetime.fromisoformat(text).replace(tzinfo=UTC))


def test_it_goes_on_from_where_it_came_to():
    job, now = job_of(AnyOf(*map(monday, range(40)))), at("2026-12-28 08:00")
    cursor, fires, looks = first_cursor(job, now), list[int](), 0
    while len(fires) < 45:
        assert cursor.state is JobState.ACTIVE
        assert cursor.next_fire_time is not None
        now = max(cursor.next_fire_time, now)
        planned, before = plan(job, cursor, now, HORIZON), cursor.next_fire_time
        cursor = planned.cursor
        looks += cursor.nudged
        assert (cursor.next_fire_time or 0) > before
        assert not planned.skips
        fires += [one.fire_time for one in planned.executions]
    assert fires == [
        *(at(f"2026-12-28 09:{minute:02}") for minute in range(40)),
        *(at(f"2028-01-03 09:{minute:02}") for minute in range(5)),
    ]
    assert looks >= 1


def test_one_that_comes_nowhere_is_tried_again_later(monkeypatch):
    job, now = job_of(AnyOf(*map(monday, range(40)))), at("2026-12-28 09:39")
    cursor = first_cursor(job, at("2026-12-28 09:38"))
    monkeypatch.setattr("tickwell.domain.trigger.work.SEARCH", 1)
    monkeypatch.setattr("tickwell.domain.planning.Work", lambda: Work(1))
    planned = plan(job, cursor, now, HORIZON)
    assert [one.fire_time for one in planned.executions] == [now]
    moved = planned.cursor
    assert (moved.state, moved.nudged) == (JobState.ACTIVE, True)
    assert (moved.after, moved.next_fire_time) == (now, now + LATER)
