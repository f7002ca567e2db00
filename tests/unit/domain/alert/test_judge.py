"""When a rule fires, when people are told, and when it is over: in virtual time."""

from dataclasses import replace

import pytest

from tickwell.domain.alert import (
    MOST_SUBJECTS,
    AlertState,
    Condition,
    Notice,
    NoticeType,
    Observed,
    Rule,
    close,
    delivered,
    judge,
)
from tickwell.domain.policy import HOUR, MINUTE, SECOND

BAD = Observed("report", "it is wrong")
FIRING, RESOLVED = NoticeType.FIRING, NoticeType.RESOLVED
AT_ONCE = Rule(id="r", condition=Condition.MISSING, after=HOUR)
PATIENT = Rule(id="p", condition=Condition.BACKLOG)


class Course:
    """A rule through time; every look is 15 seconds after the one before."""

    def __init__(self, rule, subject="job"):
        self.rule, self.subject = rule, subject
        self.state, self.now, self.silenced = AlertState(), 0, False

    def look(self, seen, times=1):
        """The notices of so many looks that see the same."""
        found = list[Notice]()
        for _ in range(times):
            self.now += 15 * SECOND
            subjects = seen if isinstance(seen, dict) else {self.subject: seen}
            self.state = judge(
                self.rule, self.state, subjects, self.now, lambda _subject: self.silenced
            )
            found += self.state.owed
            self.state = delivered(self.state)
        return [(each.type, set(each.alerts)) for each in found]


def test_a_condition_without_a_wait_is_told_at_the_first_look_and_once():
    course = Course(AT_ONCE)
    assert course.look(BAD) == [(FIRING, {"job"})]
    assert course.look(BAD, 100) == []
    assert course.look(None) == [(RESOLVED, {"job"})]
    assert course.look(None, 100) == []
    assert course.state.alerts == {}


def test_a_condition_that_must_hold_is_told_after_its_wait():
    course = Course(PATIENT)
    assert PATIENT.waits == 2 * MINUTE
    assert course.look(BAD, 8) == []
    assert course.look(BAD) == [(FIRING, {"job"})]


def test_what_is_over_before_its_wait_is_not_told():
    course = Course(PATIENT)
    for _ in range(50):
        assert course.look(BAD, 8) == []
        assert course.look(None) == []


def test_what_comes_and_goes_is_one_alert():
    course = Course(PATIENT)
    assert course.look(BAD, 9) == [(FIRING, {"job"})]
    for _ in range(40):  # less than the interval of repeats
        assert course.look(None, 19) == []  # 4 min 45 s of the 5 that clear it
        assert course.look(BAD, 3) == []
    assert course.look(None, 20) == []
    assert course.look(None) == [(RESOLVED, {"job"})]


def test_what_stays_is_repeated_by_its_interval():
    course = Course(replace(AT_ONCE, repeat=10 * MINUTE))
    assert course.look(BAD) == [(FIRING, {"job"})]
    assert course.look(BAD, 39) == []
    assert course.look(BAD) == [(FIRING, {"job"})]
    assert course.look(BAD, 39) == []


def test_a_clock_that_was_set_back_delays_nothing_and_repeats_nothing():
    course = Course(replace(PATIENT, repeat=10 * MINUTE))
    course.now = HOUR
    course.look(BAD)
    course.now = 0
    assert course.look(BAD, 8) == []
    assert course.look(BAD) == [(FIRING, {"job"})]
    course.now = HOUR
    assert course.look(BAD) == [(FIRING, {"job"})]
    course.now = 0
    assert course.look(BAD, 40) == []
    assert course.look(BAD) == [(FIRING, {"job"})]
    course.now = HOUR
    course.look(None)
    course.now = 0
    assert course.look(None, 20) == []
    assert course.look(None) == [(RESOLVED, {"job"})]


def test_a_burst_is_one_notice():
    course = Course(AT_ONCE)
    jobs = {f"job-{n}": BAD for n in range(30)}
    assert course.look(jobs) == [(FIRING, set(jobs))]
    well = dict.fromkeys(jobs)
    assert course.look(well) == [(RESOLVED, set(jobs))]


def test_a_subject_that_joins_is_told_alone():
    course = Course(AT_ONCE)
    course.look({"a": BAD})
    assert course.look({"a": BAD, "b": BAD}) == [(FIRING, {"b"})]
    assert course.look({"a": None, "b": BAD}) == [(RESOLVED, {"a"})]


def test_more_subjects_than_a_rule_reports_follow_when_others_are_well():
    course = Course(AT_ONCE)
    jobs = {f"job-{n:03}": BAD for n in range(MOST_SUBJECTS + 1)}
    course.look(jobs)
    assert len(course.state.alerts) == MOST_SUBJECTS
    last = f"job-{MOST_SUBJECTS:03}"
    course.look({"job-000": None})
    assert course.look({last: BAD}) == [(FIRING, {last})]


def test_a_subject_that_was_not_looked_at_stays():
    course = Course(AT_ONCE)
    course.look({"a": BAD})
    assert course.look({}, 10) == []
    assert set(course.state.alerts) == {"a"}


def test_a_silenced_alert_is_told_when_the_silence_ends_and_it_still_fires():
    course = Course(AT_ONCE)
    course.silenced = True
    assert course.look(BAD, 1000) == []
    course.silenced = False
    assert course.look(BAD) == [(FIRING, {"job"})]


def test_a_silenced_alert_that_ends_meanwhile_is_never_told():
    course = Course(AT_ONCE)
    course.silenced = True
    assert course.look(BAD, 10) == []
    assert course.look(None, 10) == []
    course.silenced = False
    assert course.look(None, 10) == []


def test_whoever_was_told_that_it_fires_is_told_that_it_is_over_silenced_or_not():
    course = Course(AT_ONCE)
    course.look(BAD)
    course.silenced = True
    assert course.look(BAD, 2000) == [(NoticeType.SILENCED, {"job"})]
    assert course.look(None) == [(RESOLVED, {"job"})]


def test_a_rule_that_is_deleted_ends_what_it_reported():
    course = Course(AT_ONCE)
    course.look({"a": BAD})
    course.silenced = True
    course.look({"b": BAD})
    (notice,) = close(course.state, course.now).owed
    assert (notice.type, set(notice.alerts)) == (RESOLVED, {"a"})


def test_notices_are_numbered_without_gaps_and_owed_until_they_are_delivered():
    state = AlertState()
    for n in range(6):
        state = judge(AT_ONCE, state, {"job": None if n % 2 else BAD}, n * HOUR)
    assert [each.number for each in state.owed] == [1, 2, 3, 4, 5, 6]
    assert AlertState.from_document(state.to_document()) == state


@pytest.mark.parametrize("rule", [AT_ONCE, PATIENT])
def test_the_same_look_twice_changes_nothing(rule):
    state = judge(rule, AlertState(), {"job": BAD}, 1000)
    assert judge(rule, state, {"job": BAD}, 1000) == state


def test_each_silence_of_what_was_reported_is_told_once():
    course = Course(AT_ONCE)
    course.look(BAD)
    for _ in range(2):
        course.silenced = True
        assert course.look(BAD, 5) == [(NoticeType.SILENCED, {"job"})]
        course.silenced = False
        assert course.look(BAD, 5) == []


def test_a_silence_of_what_was_not_reported_is_not_told():
    course = Course(AT_ONCE)
    course.silenced = True
    assert course.look(BAD, 5) == []
    course.silenced = False
    assert course.look(BAD, 5) == [(FIRING, {"job"})]
