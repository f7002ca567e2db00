"""Every metric: its name, kind, labels, and what it says. `docs/metrics.md` has the same."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

_ATTEMPTS = (
    *(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0),
    *(10.0, 30.0, 60.0, 300.0, 900.0, 3600.0),
)
_LATENESS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 300.0)
_CALLS = (
    *(0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5),
    *(1.0, 2.5, 5.0, 10.0),
)


class Type(StrEnum):
    """What kind of metric Prometheus takes it for."""

    COUNTER = "counter"
    GAUGE = "gauge"
    HISTOGRAM = "histogram"


class Scope(StrEnum):
    """Whose figure it is."""

    #: Counted by each process; the sum over processes is the whole.
    PROCESS = "process"
    #: Read from the store: every process shows the same.
    STORE = "store"


@dataclass(frozen=True, slots=True)
class Metric:
    """One metric."""

    name: str
    type: Type
    help: str
    labels: tuple[str, ...] = ()
    scope: Scope = Scope.PROCESS
    #: Whether it belongs to a project, whose API keys may then read it.
    by_project: bool = False
    #: Upper bounds of a histogram, in seconds.
    buckets: tuple[float, ...] = ()

    @property
    def width(self) -> int:
        """How many numbers it takes: those of a histogram are its buckets, +Inf, and the sum."""
        return len(self.buckets) + 2 if self.buckets else 1


def _counter(name: str, help: str, *labels: str, by_project: bool = False) -> Metric:
    return Metric(f"tickwell_{name}", Type.COUNTER, help, labels, by_project=by_project)


def _gauge(
    name: str,
    help: str,
    *labels: str,
    scope: Scope = Scope.PROCESS,
    by_project: bool = False,
) -> Metric:
    return Metric(f"tickwell_{name}", Type.GAUGE, help, labels, scope, by_project)


def _stored(name: str, help: str, *labels: str, by_project: bool = False) -> Metric:
    return _gauge(name, help, *labels, scope=Scope.STORE, by_project=by_project)


def _histogram(
    name: str, help: str, buckets: tuple[float, ...], *labels: str, by_project: bool = False
) -> Metric:
    name = f"tickwell_{name}"
    return Metric(name, Type.HISTOGRAM, help, labels, by_project=by_project, buckets=buckets)


EXECUTIONS = _counter(
    "executions_total", "Executions that ended.", "state", "queue", by_project=True
)
ATTEMPTS = _counter("attempts_total", "Attempts that ended.", "outcome", "target", by_project=True)
DURATION = _histogram(
    "attempt_duration_seconds",
    "Time from the start of an attempt to its end.",
    _ATTEMPTS,
    "target",
    by_project=True,
)
LATENESS = _histogram(
    "start_lateness_seconds",
    "Time from the instant at which an attempt was due to its start.",
    _LATENESS,
    by_project=True,
)
RETRIES = _counter("retries_total", "Failed attempts that another one follows.", by_project=True)
RESPONSES = _counter(
    "http_responses_total", "Responses to webhooks, by status code.", "code", by_project=True
)
FENCED = _counter(
    "fenced_writes_total",
    "Reports refused because their attempt had been taken over.",
    by_project=True,
)
SKIPS = _counter("skips_total", "Fire times that were skipped.", "reason")
FIRED = _counter("executions_fired_total", "Executions that planners made of fire times.")
PLANNED = _counter("jobs_planned_total", "Jobs whose fire times a planner answered.")
PLAN_DURATION = _histogram(
    "plan_duration_seconds", "Time of a plan step that had something to do.", _CALLS
)
CLAIMS = _counter("claims_total", "Claims, by whether they got an execution.", "result")
STORE_CALLS = _histogram(
    "store_operation_seconds", "Time of a call to the store.", _CALLS, "operation"
)
STORE_ERRORS = _counter("store_errors_total", "Calls to the store that failed.", "operation")
STORE_UNDER_WAY = _gauge(
    "store_operations_in_progress", "Calls to the store that this process waits for."
)
NOTIFIER_ERRORS = _counter(
    "notifier_errors_total", "Failures of the wake-up channel: Redis, or the store's own."
)
STEP_FAILURES = _counter("step_failures_total", "Failed steps of the engine's loops.", "service")
WORKERS_LOST = _counter("workers_lost_total", "Workers that this process declared lost.")
RESTARTS = _counter("worker_restarts_total", "Supervised worker processes that ended unasked.")
BUILD = _gauge("build_info", "Always 1; says what runs.", "version", "python", "store")
PLANNER_STEP = _gauge(
    "planner_last_step_timestamp_seconds",
    "When the planner of this process last finished a step; without a planner it is left out.",
)
IN_HAND = _gauge("attempts_in_hand", "Attempts that the worker in this process holds.")
BACKLOG = _gauge("report_backlog", "Outcomes that wait to be written to the store.")
HEALTH = _gauge("health", "Level of each health check: 0 green, 1 amber, 2 red.", "check")
STORE_UP = _gauge("store_up", "Whether the store answered the last time it was read: 1 or 0.")
QUEUE_LENGTH = _stored(
    "queue_length", "Live executions by queue and state.", "queue", "state", by_project=True
)
DUE = _stored("due", "Executions that are due and not running.", "queue", by_project=True)
DEAD_LETTERS = _stored("dead_letters", "Executions in state dead.", by_project=True)
RECORDED = _stored(
    "executions_recorded", "Executions on record, by state.", "state", by_project=True
)
JOBS = _stored("jobs", "Jobs by state, counted once a minute.", "state", by_project=True)
WORKERS = _stored("workers", "Live processes by role.", "role")
CAPACITY = _stored("worker_capacity", "Attempts that all live workers may run at once.")
UNANSWERED = _stored(
    "slots_unanswered",
    "Fire times more than 10 s ago without a record; 0 unless no planner runs.",
    by_project=True,
)
ALERTS_FIRING = _stored(
    "alerts_firing", "Alerts that fire and are not silenced.", "severity", by_project=True
)
LAST_SUCCESS = _stored(
    "job_last_success_timestamp_seconds",
    "When an execution of the job last succeeded (setting `metrics_jobs`).",
    *("project", "job"),
    by_project=True,
)
NEXT_FIRE = _stored(
    "job_next_fire_timestamp_seconds",
    "The next fire time of the job (setting `metrics_jobs`).",
    *("project", "job"),
    by_project=True,
)

#: In the order in which they are shown.
METRICS = (
    *(EXECUTIONS, ATTEMPTS, DURATION, LATENESS, RETRIES, RESPONSES, FENCED),
    *(SKIPS, FIRED, PLANNED, PLAN_DURATION, CLAIMS),
    *(STORE_CALLS, STORE_ERRORS, STORE_UNDER_WAY, NOTIFIER_ERRORS),
    *(STEP_FAILURES, WORKERS_LOST, RESTARTS),
    *(BUILD, PLANNER_STEP, IN_HAND, BACKLOG, HEALTH, STORE_UP),
    *(QUEUE_LENGTH, DUE, DEAD_LETTERS, RECORDED, JOBS, WORKERS, CAPACITY, UNANSWERED),
    ALERTS_FIRING,
    *(LAST_SUCCESS, NEXT_FIRE),
)
BY_NAME = {metric.name: metric for metric in METRICS}
