import logging

import pytest

from tickwell.domain import event as events
from tickwell.domain.execution import Claim, Kind, OutcomeKind
from tickwell.domain.job import Job
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand
from tickwell.observe.logs import EventLog, log_event


def finished(kind, charged=1, error="Traceback …\nOSError: no route"):
    job = Job(id="j", name="report", trigger=OnDemand(), target=Call("report"))
    claim = Claim(
        id="e1",
        job=job,
        kind=Kind.REQUEST,
        attempt=charged,
        charged=charged,
        lost=0,
        returned=0,
        fire_time=0,
        run_at=0,
        payload=None,
        deadline=0,
        worker="w",
        claim_id="c",
    )
    outcome = Outcome(kind=kind, started_at=1, error=error)
    return events.AttemptsFinished(reports=[decide(claim, outcome, 1000)])


@pytest.mark.parametrize(
    ("event", "level", "words"),
    [
        (finished(OutcomeKind.FAILED), logging.INFO, "again in"),
        (finished(OutcomeKind.FAILED, 3), logging.WARNING, "died (3 of 3 attempts)"),
        (events.WorkerLost(worker="w1"), logging.WARNING, "w1 is lost"),
        (events.JobUnreadable(job="j", why="no zone"), logging.ERROR, "job j is left out"),
        (
            events.Parked(ability="call:x", executions=2, queue="q", reason="nobody"),
            logging.WARNING,
            "parked 2 executions that need call:x: nobody",
        ),
        (events.JobPaused(job="report", why="410"), logging.WARNING, "paused job report: 410"),
        (events.JobOver(job="report"), logging.WARNING, "report has no fire time left"),
        (events.Stopped(released=3), logging.INFO, "3 attempts given back"),
        (events.ProcessEnded(pid=7, code=-9, rest=0.1), logging.WARNING, "ended with -9"),
    ],
)
def test_an_operator_is_told(caplog, event, level, words):
    with caplog.at_level(logging.DEBUG, logger="tickwell"):
        EventLog().hear(event)
    (record,) = caplog.records
    assert record.levelno == level
    assert words in record.message


def test_the_cause_is_the_last_line_of_the_error(caplog):
    with caplog.at_level(logging.INFO, logger="tickwell"):
        log_event(finished(OutcomeKind.FAILED))
    assert caplog.records[0].message.endswith("OSError: no route")


def test_a_success_makes_no_line(caplog):
    with caplog.at_level(logging.DEBUG, logger="tickwell"):
        log_event(finished(OutcomeKind.SUCCEEDED))
    assert not caplog.records


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\x0b", "\x85", "\u2028"])
def test_no_receiver_can_write_a_line_of_ours(caplog, end):
    forged = "2026-11-15 09:00:00 WARNING tickwell: all is well"
    event = finished(
        OutcomeKind.FAILED, 3, error=f"HTTP 500 Internal Server Error: no{end}{forged}"
    )
    log_event(event)
    first, *others = caplog.records[0].message.splitlines()
    assert first.endswith("execution e1:")
    assert others == ["    HTTP 500 Internal Server Error: no", f"    {forged}"]


def test_no_control_character_of_others_reaches_the_log(caplog):
    log_event(finished(OutcomeKind.FAILED, 3, error="\x1b[2J one\n\ttwo \x9b31m\x7f"))
    log_event(events.JobPaused(job="report", why="\x9bA"))
    died, paused = (record.message for record in caplog.records)
    assert died.splitlines()[1:] == ["    \\x1b[2J one", "    \ttwo \\x9b31m\\x7f"]
    assert paused == "paused job report: \\x9bA"
