import logging
from dataclasses import replace

import pytest

from tests.observe.reports import finished
from tickwell.domain import event as events
from tickwell.domain.execution import Kind, OutcomeKind, State
from tickwell.domain.http import Http
from tickwell.domain.job import Job
from tickwell.domain.planning import new_execution
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand
from tickwell.observe.logs import EventLog

FIELDS = {
    "job": "report",
    "execution": "e1",
    "fire_time": "1970-01-01T00:00:00.000Z",
    "project": "default",
    "queue": "default",
    "worker": "w",
}


def triggered():
    job = Job(id="j", name="report", trigger=OnDemand(), target=Call("report"))
    new = new_execution(job, 0, id="e1", kind=Kind.REQUEST, overlap=job.overlap)
    return events.Triggered(executions=[new])


@pytest.mark.parametrize(
    ("event", "level", "name", "words"),
    [
        (finished(OutcomeKind.FAILED), "WARNING", "execution_failed", "retry in"),
        (finished(OutcomeKind.CANCELLED), "INFO", "execution_cancelled", "cancelled"),
        (finished(OutcomeKind.SNOOZED), "DEBUG", "execution_returned", "snoozed"),
        (finished(OutcomeKind.SUCCEEDED), "DEBUG", "execution_succeeded", "succeeded"),
        (triggered(), "DEBUG", "execution_triggered", "report triggered, execution e1"),
        (
            events.WorkerLost(worker="w1", host="web-1", pid=7, roles=("api", "planner")),
            "WARNING",
            "worker_lost",
            "process 7 on web-1 (api,planner) is lost",
        ),
        (
            events.WorkerLost(worker="w1", host="web-1", pid=7),
            "WARNING",
            "worker_lost",
            "(supervisor) is lost",
        ),
        (events.JobUnreadable(job="j", why="no zone"), "ERROR", "job_unreadable", "skipping job j"),
        (
            events.Parked(ability="call:x", executions=2, queue="q", reason="nobody"),
            "WARNING",
            "executions_parked",
            "executions parked: 2; they need call:x: nobody",
        ),
        (events.JobPaused(job="report", why="410"), "WARNING", "job_paused", "job report: 410"),
        (events.JobOver(job="report"), "WARNING", "job_finished", "report has no fire time left"),
        (events.Stopped(released=3), "INFO", "engine_stopped", "attempts released: 3"),
        (
            events.ProcessEnded(pid=7, code=-9, rest=0.1),
            "WARNING",
            "worker_process_ended",
            "ended with -9",
        ),
        (
            events.ListenerFailed(listener="x", error=KeyError("a")),
            "ERROR",
            "listener_failed",
            "listener x raised KeyError('a')",
        ),
        (events.Recovered(executions=["a", "b"]), "WARNING", "executions_recovered", "ered: 2"),
    ],
)  # fmt: skip
def test_the_application_gets_a_record_with_name_level_and_sentence(
    caplog, event, level, name, words
):
    with caplog.at_level(logging.DEBUG, logger="tickwell"):
        EventLog().hear(event)
    (record,) = caplog.records
    assert (record.levelname, record.event, record.name) == (level, name, "tickwell")
    assert words in record.getMessage()
    assert record.pid
    assert record.host


def test_a_line_with_an_empty_field_is_logged(caplog):
    EventLog().hear(events.JobPaused(job="report", why=""))
    assert [one.getMessage() for one in caplog.records] == ["paused job report: -"]


def test_an_attempt_s_line_has_the_fields_of_its_execution(caplog):
    EventLog().hear(finished(OutcomeKind.FAILED, 2))
    (record,) = caplog.records
    assert {name: getattr(record, name) for name in [*FIELDS, "attempt"]} == FIELDS | {"attempt": 2}
    assert len(record.trace_id) == 32
    assert record.error.startswith("Traceback")
    assert record.getMessage().endswith("OSError: no route")


@pytest.mark.parametrize("charged", [1, 3])
def test_the_sentence_of_a_failure_names_the_exception_not_the_last_line_of_it(caplog, charged):
    event = finished(OutcomeKind.FAILED, charged)
    event.reports[0].error = "Traceback …\nOSError: no route\n(Background: https://x)"
    EventLog().hear(event)
    assert {each.getMessage().rpartition(": O")[2] for each in caplog.records} == {
        "SError: no route"
    }


@pytest.mark.parametrize("charged", [1, 3])
def test_a_failed_webhook_names_its_host_and_no_more_of_its_address(caplog, charged):
    event = finished(OutcomeKind.FAILED, charged)
    job, url = event.reports[0].claim.job, "https://Hooks.example.com:8443/services/s3cret?t=0k"
    event.reports[0].claim.job = replace(job, target=Http(url))
    EventLog().hear(event)
    assert caplog.records[0].target_host == "hooks.example.com:8443"
    assert not any(
        "s3cret" in str(vars(each)) or "0k" in str(vars(each)) for each in caplog.records
    )


@pytest.mark.parametrize("outcome", [OutcomeKind.FAILED, OutcomeKind.TIMED_OUT])
def test_the_last_failed_attempt_has_the_line_of_any_failed_one_and_then_its_end(caplog, outcome):
    EventLog().hear(finished(outcome, 3))
    failed, dead = caplog.records
    assert (failed.event, failed.levelname, failed.attempt) == ("execution_failed", "WARNING", 3)
    assert (failed.outcome, failed.error) == (outcome.value, "OSError: no route")
    assert failed.getMessage().endswith("of execution e1, no retry: OSError: no route")
    assert not hasattr(failed, "retry_in")
    assert (dead.event, dead.levelname) == ("execution_dead", "ERROR")
    assert "report died (3 of 3 attempts), execution e1" in dead.getMessage()
    assert dead.error == "Traceback …\nOSError: no route"


def test_one_that_dies_without_a_failed_attempt_has_no_line_of_one(caplog):
    event = finished(OutcomeKind.SNOOZED)
    event.reports[0].state = State.DEAD
    EventLog().hear(event)
    assert [each.event for each in caplog.records] == ["execution_dead"]


def test_runs_are_logged_at_info_on_request(caplog):
    log = EventLog()
    with caplog.at_level(logging.INFO, logger="tickwell"):
        log.hear(triggered())
        log.hear(finished(OutcomeKind.SUCCEEDED))
        assert caplog.records == []
        log.logs_runs = True
        log.hear(triggered())
        log.hear(finished(OutcomeKind.SUCCEEDED))
    assert [one.event for one in caplog.records] == ["execution_triggered", "execution_succeeded"]
    assert {one.levelname for one in caplog.records} == {"INFO"}


def test_nothing_is_computed_for_a_line_that_is_not_wanted(monkeypatch):
    def refuse(*_):
        raise AssertionError

    monkeypatch.setattr("tickwell.observe.logs.claim_fields", refuse)
    monkeypatch.setattr("tickwell.observe.logs.new_fields", refuse)
    EventLog().hear(finished(OutcomeKind.SUCCEEDED))
    EventLog().hear(triggered())


def test_a_dead_letter_of_a_lost_worker_has_its_line(caplog):
    reports = [*finished(OutcomeKind.LOST).reports, *finished(OutcomeKind.LOST).reports]
    reports[0].state = State.DEAD
    ids = [report.claim.id for report in reports]
    EventLog().hear(events.Recovered(executions=ids, reports=reports))
    # The other one is retried: that is told once for all of them.
    assert [each.event for each in caplog.records] == ["executions_recovered", "execution_dead"]
