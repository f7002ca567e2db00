"""What an edit, a pause, a resume and a deletion do to a job."""

from dataclasses import replace

import pytest

from tickwell.domain import change, planning
from tickwell.domain.change import AHEAD, CHUNKS, Pending
from tickwell.domain.execution import Reason
from tickwell.domain.job import Cursor, Entry, Job, JobState, Pause
from tickwell.domain.planning import first_cursor, plan
from tickwell.domain.policy import DAY, HOUR, MINUTE, SECOND, Misfire, OnMisfire
from tickwell.domain.target import Call
from tickwell.domain.trigger import Every
from tickwell.errors import VersionConflict, WrongState

#: 15 June 2026, 10:00 UTC.
TEN = 1_781_517_600_000
NOW = TEN + 10 * MINUTE + SECOND


def edit(*args, **named):
    return change.edit(*args, **named)


def pause(*args, **named):
    return change.pause(*args, **named)


def resume():
    return change.resume()


def delete():
    return change.delete()


def make_job(trigger=None, **fields):
    job = Job(id="job", name="report", trigger=trigger or Every("1m"), target=Call("report"))
    return replace(job, **({"saved_at": TEN, "created_at": TEN} | fields))


def saved(trigger=None, **fields):
    job = make_job(trigger, **fields)
    return Entry(job, first_cursor(job, TEN))


def paused(until=None, **fields):
    entry = saved(**fields)
    note = Pause(by="ann", why="move", since=TEN, until=until)
    cursor = replace(
        entry.cursor, state=JobState.PAUSED, pause=note, next_fire_time=until, nudged=False
    )
    return Entry(entry.job, cursor)


def in_state(state):
    entry = saved()
    return Entry(entry.job, replace(entry.cursor, state=state, next_fire_time=None))


def answers(made):
    ranges = [(skip.first, skip.last, skip.count, skip.reason) for skip in made.skips]
    return [new.fire_time for new in made.executions], ranges


MISSED = (TEN + MINUTE, TEN + 9 * MINUTE, 9, Reason.MISFIRE)
PAUSED = (TEN + MINUTE, TEN + 10 * MINUTE, 10, Reason.PAUSED)


class TestEdit:
    def test_it_keeps_what_a_job_is_known_by(self):
        new = Job(id="other", name="new", project="x", trigger=Every("1h"), target=Call("y"))
        made = edit(new)(saved(version=3, project="shop"), NOW)
        assert made.job == replace(
            new, id="job", project="shop", version=4, created_at=TEN, saved_at=NOW
        )
        assert made.pending is Pending.RESTAMP

    def test_the_old_version_answers_up_to_now(self):
        made = edit(make_job(Every("1h")))(saved(), NOW)
        assert answers(made) == ([TEN + 10 * MINUTE], [MISSED])
        assert {new.job.version for new in made.executions} == {1}
        assert made.cursor == Cursor(after=NOW, next_fire_time=TEN + HOUR, runs=1)

    def test_a_fire_at_the_very_instant_belongs_to_the_old_version(self):
        made = edit(make_job())(saved(), TEN + 10 * MINUTE)
        assert answers(made)[0] == [TEN + 10 * MINUTE]
        assert made.cursor.next_fire_time == TEN + 11 * MINUTE

    def test_what_was_planned_ahead_is_planned_anew(self):
        entry = saved()
        ahead = Entry(entry.job, plan(entry.job, entry.cursor, TEN, 2 * MINUTE).cursor)
        made = edit(make_job())(ahead, TEN)
        assert answers(made) == ([], [])
        assert made.cursor.next_fire_time == TEN + MINUTE

    def test_a_paused_job_stays_paused_and_its_past_is_answered(self):
        made = edit(make_job(Every("1h")))(paused(until=NOW + HOUR), NOW)
        assert answers(made) == ([], [PAUSED])
        assert (made.cursor.state, made.cursor.after) == (JobState.PAUSED, NOW)
        assert made.cursor.next_fire_time == NOW + HOUR
        assert made.cursor.pause == paused(until=NOW + HOUR).cursor.pause

    def test_a_pause_that_is_over_stays_over(self):
        made = edit(make_job())(paused(until=TEN + 5 * MINUTE), NOW)
        assert answers(made) == (
            [TEN + 10 * MINUTE],
            [
                (TEN + MINUTE, TEN + 4 * MINUTE, 4, Reason.PAUSED),
                (TEN + 5 * MINUTE, TEN + 9 * MINUTE, 5, Reason.MISFIRE),
            ],
        )
        assert made.cursor.state is JobState.ACTIVE

    def test_a_finished_job_may_fire_again(self):
        made = edit(make_job(Every("1h")))(in_state(JobState.FINISHED), NOW)
        assert (made.cursor.state, made.cursor.next_fire_time) == (JobState.ACTIVE, TEN + HOUR)

    def test_runs_go_on_counting(self):
        entry = saved()
        counted = Entry(entry.job, replace(entry.cursor, runs=4, next_fire_time=NOW + MINUTE))
        over = edit(make_job(Every("1m", max_runs=4)))(counted, NOW)
        assert (over.cursor.state, over.cursor.next_fire_time) == (JobState.FINISHED, None)
        more = edit(make_job(Every("1m", max_runs=5)))(counted, NOW)
        assert (more.cursor.state, more.cursor.runs) == (JobState.ACTIVE, 4)

    def test_a_live_run_is_still_what_the_next_fire_counts_from(self):
        job = make_job(Every("1m", after="finish"))
        made = edit(make_job(Every("2m", after="finish")))(
            Entry(job, Cursor(after=TEN + MINUTE, runs=1)), NOW
        )
        assert made.cursor == Cursor(after=TEN + MINUTE, runs=1)

    def test_versions_are_checked(self):
        with pytest.raises(VersionConflict) as caught:
            edit(make_job(), expected_version=1)(saved(version=2), NOW)
        assert (caught.value.expected, caught.value.found) == (1, 2)
        made = edit(make_job(), expected_version=2)(saved(version=2), NOW)
        assert made.job.version == 3

    def test_a_deleted_job_cannot_be_edited(self):
        with pytest.raises(WrongState):
            edit(make_job())(in_state(JobState.DELETED), NOW)


class TestFarBehind:
    def behind(self):
        return saved(Every("1s"), misfire=Misfire(policy=OnMisfire.SKIP, cap=1, grace="0s"))

    def test_an_edit_walks_so_many_chunks_and_hands_the_rest_to_the_new_version(self):
        made = edit(make_job(Every("7s")))(self.behind(), TEN + 365 * DAY)
        walked = CHUNKS * (planning.CHUNK - 1) * SECOND
        assert sum(skip.count for skip in made.skips) == walked // SECOND
        assert made.job.saved_at == made.cursor.after == TEN + walked
        assert made.cursor.next_fire_time == Every("7s").after(TEN + walked)

    def test_a_pause_takes_effect_at_once(self):
        made = pause("ann", "stop")(self.behind(), TEN + 365 * DAY)
        assert (made.cursor.state, made.cursor.next_fire_time) == (JobState.PAUSED, None)
        resumed = resume()(Entry(self.behind().job, made.cursor), TEN + 365 * DAY)
        planned = plan(self.behind().job, resumed.cursor, TEN + 365 * DAY, 0)
        assert planned.skips[0].first == made.cursor.after + SECOND

    def test_a_clock_that_went_back_moves_no_cursor_back(self):
        entry = saved()
        ran = Entry(entry.job, plan(entry.job, entry.cursor, TEN + 3 * HOUR, 0).cursor)
        back = TEN + 3 * HOUR - AHEAD - 1
        edited = edit(make_job(Every("7s")))(ran, back)
        assert edited.cursor.after == edited.job.saved_at == TEN + 3 * HOUR
        assert pause("ann", "")(ran, back).cursor.after == TEN + 3 * HOUR

    def test_versions_never_answer_for_an_instant_before_their_predecessor(self):
        job = make_job(saved_at=NOW + MINUTE)
        made = edit(make_job())(Entry(job, first_cursor(job, NOW + MINUTE)), NOW)
        assert made.job.saved_at == made.cursor.after == NOW + MINUTE


class TestPause:
    def test_it_answers_what_is_due_and_notes_who_and_why(self):
        made = pause("ann", "move", until=NOW + HOUR)(saved(), NOW)
        assert answers(made) == ([TEN + 10 * MINUTE], [MISSED])
        assert made.cursor.pause == Pause(by="ann", why="move", since=NOW, until=NOW + HOUR)
        assert (made.cursor.state, made.cursor.next_fire_time) == (JobState.PAUSED, NOW + HOUR)
        assert made.pending is Pending.HOLD
        assert made.job is None

    def test_the_cursor_goes_back_over_what_is_withdrawn(self):
        entry = saved()
        ahead = Entry(entry.job, plan(entry.job, entry.cursor, TEN, 2 * MINUTE).cursor)
        made = pause("ann", "")(ahead, TEN + SECOND)
        assert made.cursor.after == TEN + SECOND
        resumed = resume()(Entry(entry.job, made.cursor), TEN + 2 * SECOND).cursor
        planned = plan(entry.job, resumed, TEN + 2 * SECOND, 2 * MINUTE)
        assert [new.fire_time for new in planned.executions] == [TEN + MINUTE, TEN + 2 * MINUTE]

    def test_a_second_pause_replaces_the_note(self):
        made = pause("bob", "longer")(paused(until=NOW + MINUTE), NOW)
        assert answers(made) == ([], [PAUSED])
        assert made.cursor.pause == Pause(by="bob", why="longer", since=NOW)
        assert made.cursor.next_fire_time is None

    def test_a_second_pause_that_says_nothing_leaves_the_note(self):
        before = paused(until=NOW + MINUTE)
        made = pause("bob", "")(before, NOW)
        assert made.cursor.pause == before.cursor.pause
        assert made.cursor.next_fire_time == NOW + MINUTE

    def test_a_pause_that_is_over_leaves_nothing_to_a_new_one(self):
        made = pause("bob", "")(paused(until=NOW - MINUTE), NOW)
        assert made.cursor.pause == Pause(by="bob", why="", since=NOW)

    def test_a_deleted_job_cannot_be_paused(self):
        with pytest.raises(WrongState):
            pause("ann", "")(in_state(JobState.DELETED), NOW)


class TestResume:
    def test_the_planner_skips_what_the_pause_passed(self):
        made = resume()(paused(), NOW)
        assert made.pending is Pending.RELEASE
        assert (made.cursor.state, made.cursor.next_fire_time) == (JobState.ACTIVE, NOW)
        planned = plan(make_job(), made.cursor, NOW, 0)
        assert answers(planned) == ([], [PAUSED])

    @pytest.mark.parametrize("state", [state for state in JobState if state is not JobState.PAUSED])
    def test_only_a_paused_job_can_be_resumed(self, state):
        with pytest.raises(WrongState):
            resume()(in_state(state), NOW)


class TestDelete:
    def test_what_was_due_is_answered_before_the_end(self):
        made = delete()(saved(), NOW)
        assert answers(made) == ([TEN + 10 * MINUTE], [MISSED])
        assert (made.cursor.state, made.cursor.next_fire_time) == (JobState.DELETED, None)
        assert made.pending is Pending.END

    def test_so_is_what_a_pause_passed(self):
        made = delete()(paused(), NOW)
        assert answers(made) == ([], [PAUSED])
        assert made.cursor.pause is None

    def test_deleting_twice_changes_nothing(self):
        assert delete()(in_state(JobState.DELETED), NOW) is None
