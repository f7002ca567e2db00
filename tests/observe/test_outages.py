"""A state is logged when it changes, not with every step that fails."""

import logging

import pytest

from tickwell.domain.event import StepFailed, StepRecovered
from tickwell.errors import StoreError, StoreFull, StoreUnavailable
from tickwell.observe.logs import EventLog
from tickwell.observe.outages import CALM, HICCUP, Outages

AWAY = StoreUnavailable("mongodb://db does not answer; check that it runs")
LOOPS = ("planner", "worker", "reaper", "reporter", "pulse")


class Log:
    """A log with a clock of its own."""

    def __init__(self, caplog):
        self.now = 0.0
        self.outages = Outages(lambda: self.now)
        self.caplog = caplog

    def fail(self, *services, error=AWAY, times=1, rest=0.1):
        for number in range(1, times + 1):
            for service in services:
                event = StepFailed(service=service, error=error, failures=number, rest=rest)
                self.outages.failed(event)

    def recover(self, *services):
        for service in services:
            self.outages.recovered(StepRecovered(service=service, failures=1))

    def lines(self):
        told = [one.message for one in self.caplog.records if one.levelno >= logging.INFO]
        self.caplog.clear()
        return told


@pytest.fixture
def log(caplog):
    return Log(caplog)


def test_a_store_that_is_away_is_two_lines_whatever_fails_meanwhile(log):
    log.fail(*LOOPS, times=30)
    assert log.lines() == [f"the store failed; retrying: {AWAY}"]
    log.now = 14.2
    log.recover(*LOOPS[:-1])
    assert log.lines() == []
    log.recover(LOOPS[-1])
    assert log.lines() == ["the store works again after 14.2 s and 150 failed steps"]


def test_the_steps_themselves_are_there_for_who_wants_them(log, caplog):
    with caplog.at_level(logging.DEBUG, logger="tickwell"):
        log.fail("planner", times=3)
        log.recover("planner")
    words = [one.message for one in caplog.records if one.levelno == logging.DEBUG]
    assert words == [
        f"planner failed (2 in a row), next try in 0.1 s: {AWAY}",
        f"planner failed (3 in a row), next try in 0.1 s: {AWAY}",
        "planner works again after 1 failures",
    ]


def test_another_kind_of_trouble_is_told_of_once(log):
    full = StoreFull("the disk is full; free some")
    log.fail("planner", times=3)
    log.fail("planner", "worker", error=full, times=3)
    assert [line.partition(": ")[2] for line in log.lines()] == [str(AWAY), str(full)]
    log.recover("planner", "worker")
    assert len(log.lines()) == 1


def test_what_is_wrong_with_a_service_itself_is_its_own(log):
    log.fail("planner", error=KeyError("x"), times=4)
    log.fail("worker")
    assert [line.split(" failed")[0] for line in log.lines()] == ["planner", "the store"]
    log.recover("planner")
    assert log.lines() == ["planner works again after 0.0 s and 4 failed steps"]


def test_hiccups_after_an_outage_make_no_lines_until_they_are_one_again(log):
    log.fail("worker")
    log.recover("worker")
    assert len(log.lines()) == 2
    for _ in range(20):
        log.now += 1
        log.fail("worker", times=HICCUP - 1)
        log.recover("worker")
    assert log.lines() == []
    log.fail("worker", times=HICCUP)
    log.recover("worker")
    assert len(log.lines()) == 2
    log.now += CALM + 1
    log.fail("worker")
    assert len(log.lines()) == 1


def test_a_step_that_is_not_tried_again_is_a_line_each_time(log):
    for _ in range(2):
        log.now += CALM + 1
        log.fail("sync", rest=0.0)
    assert len(log.lines()) == 2


def test_a_long_outage_is_one_reminder_a_minute(log):
    for second in range(200):
        log.now = float(second)
        log.fail(*LOOPS)
    lines = log.lines()
    assert len(lines) == 4  # at 0, 60, 120 and 180 s
    log.recover(*LOOPS)
    assert len(log.lines()) == 1


def test_an_outage_of_20_s_with_all_kinds_of_errors_is_three_lines_at_most(log):
    kinds = [AWAY, StoreFull("the disk is full"), StoreError("what?"), StoreUnavailable("again")]
    for second in range(20):
        log.now = float(second)
        for error in kinds:
            log.fail(*LOOPS, error=error)
    log.recover(*LOOPS)
    assert len(log.lines()) == 3


def test_a_scheduler_logs_by_these_rules(caplog):
    hear = EventLog().hear
    for number in range(1, 10):
        hear(StepFailed(service="planner", error=AWAY, failures=number, rest=0.1))
    hear(StepRecovered(service="planner", failures=9))
    assert [one.levelname for one in caplog.records] == ["WARNING", "WARNING"]
