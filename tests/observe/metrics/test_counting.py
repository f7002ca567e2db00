"""What the engine tells is counted, once."""

from tests.observe.metrics.reports import a_report, values_of
from tickwell.domain.event import (
    AttemptsFenced,
    AttemptsFinished,
    Planned,
    ProcessEnded,
    Recovered,
    StepFailed,
    WorkerLost,
)
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.http import Http
from tickwell.errors import StoreUnavailable
from tickwell.observe.metrics import counting
from tickwell.observe.metrics.counting import Counting
from tickwell.observe.metrics.series import Series

HOOK = Http("https://example.com/hook")


def counted(*events):
    made = Counting(Series())
    for event in events:
        made.hear(event)
    return values_of(made.series)


def test_successes_failures_and_deaths_are_told_apart():
    found = counted(
        AttemptsFinished(
            reports=[
                a_report(seconds=0.02, late=0.3),
                a_report(seconds=0.02),
                a_report(OutcomeKind.FAILED, queue="mail"),
                a_report(OutcomeKind.TIMED_OUT, queue="mail", attempts=1),
                a_report(OutcomeKind.CANCELLED),
            ]
        )
    )
    assert found["tickwell_executions_total", "succeeded", "default"] == 2
    assert found["tickwell_executions_total", "dead", "mail"] == 1
    assert found["tickwell_executions_total", "cancelled", "default"] == 1
    assert found["tickwell_attempts_total", "succeeded", "call"] == 2
    assert found["tickwell_attempts_total", "failed", "call"] == 1
    assert found["tickwell_attempts_total", "timed_out", "call"] == 1
    assert found[("tickwell_retries_total",)] == 1
    assert found["tickwell_attempt_duration_seconds", "call", "count"] == 5
    assert found["tickwell_attempt_duration_seconds", "call", "sum"] == 0.1
    assert found["tickwell_start_lateness_seconds", "sum"] == 0.3


def test_lost_attempts_are_counted_when_they_are_recovered():
    report = a_report(OutcomeKind.LOST)
    found = counted(Recovered(executions=[report.claim.id], reports=[report]))
    assert found["tickwell_attempts_total", "lost", "call"] == 1
    assert found[("tickwell_retries_total",)] == 1
    assert ("tickwell_attempt_duration_seconds", "call", "count") not in found


def test_what_is_remembered_is_bounded_and_loses_no_count(monkeypatch):
    monkeypatch.setattr(counting, "MOST_CELLS", 2)
    made = Counting(Series())
    kinds = (OutcomeKind.SUCCEEDED, OutcomeKind.FAILED)
    reports = [
        a_report(kind, queue=f"queue {n}", attempts=1, target=HOOK, result={"status": 200 + n})
        for n in range(5)
        for kind in kinds
    ]
    made.hear(AttemptsFinished(reports=reports))
    found = values_of(made.series)
    totals = [n for key, n in found.items() if key[0] == "tickwell_executions_total"]
    assert sum(totals) == sum(n for key, n in found.items() if "responses" in key[0]) == 10
    assert all(
        len(kept) <= 2 for kept in [made._cells.keys(), made._alike.keys(), made._responses.keys()]
    )


def test_what_was_given_back_untried_is_no_attempt():
    report = a_report(OutcomeKind.RELEASED)
    report.started_at = None
    assert counted(AttemptsFinished(reports=[report])) == {}


def test_responses_are_counted_by_status():
    answers = [a_report(target=HOOK, result={"status": code}) for code in (200, 200, 503)]
    found = counted(AttemptsFinished(reports=[*answers, a_report(target=HOOK)]))
    assert found["tickwell_http_responses_total", "200"] == 2
    assert found["tickwell_http_responses_total", "503"] == 1
    assert found["tickwell_attempts_total", "succeeded", "http"] == 4


def test_no_target_makes_a_series_of_each_status_it_invents():
    reports = [a_report(target=HOOK, result={"status": code}) for code in range(100, 600)]
    found = counted(AttemptsFinished(reports=reports))
    codes = [key[1] for key in found if key[0] == "tickwell_http_responses_total"]
    assert len(codes) < 80
    assert found["tickwell_http_responses_total", "404"] == 1
    assert found["tickwell_http_responses_total", "500"] > 80


def test_a_clock_that_is_set_back_takes_nothing_away():
    found = counted(AttemptsFinished(reports=[a_report(seconds=-7200, late=-3)]))
    assert found["tickwell_attempt_duration_seconds", "call", "count"] == 1
    assert ("tickwell_attempt_duration_seconds", "call", "sum") not in found


def test_plans_failures_and_losses_are_counted():
    error = StoreUnavailable("away")
    found = counted(
        Planned(executions=3, skipped=4, jobs=2, reasons={"misfire": 4}, seconds=0.2),
        StepFailed(service="watcher", error=error, failures=1, rest=0.1),
        AttemptsFenced(reports=[a_report()]),
        WorkerLost(worker="w"),
        ProcessEnded(pid=1, code=-9, rest=1.0),
    )
    assert found == {
        ("tickwell_executions_fired_total",): 3,
        ("tickwell_jobs_planned_total",): 2,
        ("tickwell_skips_total", "misfire"): 4,
        ("tickwell_plan_duration_seconds", "count"): 1,
        ("tickwell_plan_duration_seconds", "sum"): 0.2,
        ("tickwell_step_failures_total", "watcher"): 1,
        ("tickwell_notifier_errors_total",): 1,
        ("tickwell_fenced_writes_total",): 1,
        ("tickwell_workers_lost_total",): 1,
        ("tickwell_worker_restarts_total",): 1,
    }


def test_very_many_queues_and_projects_are_one_other(monkeypatch):
    monkeypatch.setattr(counting, "MOST_CELLS", 4)
    monkeypatch.setattr(counting, "MOST_QUEUES", 2)
    monkeypatch.setattr(counting, "MOST_PROJECTS", 2)
    made = Counting(Series())
    reports = [a_report(project=f"p{n}", queue=f"q{n}") for n in range(5)]
    made.hear(AttemptsFinished(reports=reports))
    found = values_of(made.series)
    assert found["tickwell_executions_total", "succeeded", "other"] == 3
    assert sum(n for key, n in found.items() if key[0] == "tickwell_executions_total") == 5
    of_projects = {sample.project for sample in made.series.samples()}
    assert of_projects == {"", "p0", "p1", counting.OTHER_PROJECT}


def test_a_duration_carries_its_trace():
    made = Counting(Series())
    made.trace_of = lambda report: "4bf92f3577b34da6a3ce929d0e0e4736"
    made.hear(AttemptsFinished(reports=[a_report(seconds=0.02)]))
    found = [sample.exemplars for sample in made.series.samples() if sample.exemplars]
    [[exemplar]] = [list(each.values()) for each in found]
    assert (exemplar.trace, exemplar.seconds) == ("4bf92f3577b34da6a3ce929d0e0e4736", 0.02)
