"""Every line that Tickwell logs. docs/logs.md has the same table; a test compares them."""

from __future__ import annotations

from logging import DEBUG, ERROR, INFO, WARNING

from tickwell.log.event import LogEvent

#: The fields of an execution, also in the lines that its handler logs.
EXECUTION = ("job", "execution", "attempt", "fire_time", "project", "queue", "worker", "trace_id")
_OF_FIRE = tuple(name for name in EXECUTION if name not in {"attempt", "worker"})

SERVICE_STARTED = LogEvent(
    "service_started",
    INFO,
    "tickwell runs: {roles}; store {store}",
    ("roles", "store", "workers", "url"),
)
SERVICE_NOTICE = LogEvent("service_notice", INFO, "{notice}")
SERVICE_FAILED = LogEvent("service_failed", ERROR, "the service cannot start: {error}", ("error",))
SERVICE_STOPPING = LogEvent(
    "service_stopping", INFO, "stopping: claiming nothing more, waiting for running attempts"
)
ENGINE_STARTED = LogEvent("engine_started", DEBUG, "the engine runs", ("worker",))
ENGINE_START_FAILED = LogEvent(
    "engine_start_failed", WARNING, "engine start failed; retrying: {cause}", ("error",)
)
ENGINE_START_RECOVERED = LogEvent(
    "engine_start_recovered",
    WARNING,
    "the engine has started after {failures} failures",
    ("failures",),
)
ENGINE_STOPPED = LogEvent(
    "engine_stopped", INFO, "stopped; attempts released: {released}", ("released",)
)
WORKER_IDLE = LogEvent("worker_idle", DEBUG, "nothing to claim", ("worker",))
FIRES_PLANNED = LogEvent(
    "fires_planned",
    DEBUG,
    "executions planned: {executions}, fire times skipped: {skipped}",
    ("executions", "skipped"),
)
EXECUTION_TRIGGERED = LogEvent(
    "execution_triggered", DEBUG, "{job} triggered, execution {execution}", _OF_FIRE
)
EXECUTION_SUCCEEDED = LogEvent(
    "execution_succeeded",
    DEBUG,
    "{job} succeeded, attempt {attempt} of execution {execution}",
    (*EXECUTION, "duration"),
)
EXECUTION_FAILED = LogEvent(
    "execution_failed",
    WARNING,
    "{job} {outcome}, attempt {attempt} of execution {execution}, {next}: {cause}",
    (*EXECUTION, "outcome", "target_host", "duration", "retry_in", "error"),
)
EXECUTION_DEAD = LogEvent(
    "execution_dead",
    ERROR,
    "{job} died ({reason}), execution {execution}: {cause}",
    (*EXECUTION, "outcome", "duration", "reason", "error"),
)
EXECUTION_CANCELLED = LogEvent(
    "execution_cancelled",
    INFO,
    "{job} cancelled ({reason}), execution {execution}",
    (*EXECUTION, "duration", "reason"),
)
EXECUTION_RETURNED = LogEvent(
    "execution_returned",
    DEBUG,
    "{job} {outcome}, attempt {attempt} of execution {execution}, next in {retry_in} s",
    (*EXECUTION, "outcome", "duration", "retry_in", "error"),
)
EXECUTIONS_RECOVERED = LogEvent(
    "executions_recovered", WARNING, "executions recovered: {count}", ("count", "executions")
)
EXECUTIONS_PARKED = LogEvent(
    "executions_parked",
    WARNING,
    "executions parked: {count}; they need {ability}: {reason}",
    ("count", "ability", "queue", "reason"),
)
BACKLOG_HELD = LogEvent(
    "backlog_held",
    WARNING,
    "missed fires held in project {project}: {runs} of {jobs} jobs, too many to catch up at"
    " once; decide about them with tickwell backlog",
    ("project", "jobs", "runs"),
)
ATTEMPTS_FENCED = LogEvent(
    "attempts_fenced",
    WARNING,
    "stale reports refused: {count}; their attempts were taken over",
    ("count", "executions"),
)
WORKER_LOST = LogEvent(
    "worker_lost",
    WARNING,
    "process {process_id} on {lost_host} ({roles}) is lost; recovering its attempts",
    ("worker", "lost_host", "process_id", "roles"),
)
WORKER_PROCESS_ENDED = LogEvent(
    "worker_process_ended",
    WARNING,
    "worker process {process_id} ended with {exit_code}; starting another in {retry_in} s",
    ("process_id", "exit_code", "retry_in"),
)
JOB_UNREADABLE = LogEvent(
    "job_unreadable",
    ERROR,
    "skipping job {job} for a minute, because this process cannot read it: {reason}",
    ("job", "reason"),
)
_OF_ALERT = ("project", "rule", "words", "count", "names")
ALERT_FIRING = LogEvent(
    "alert_firing", WARNING, "alert fires: {names}: {words}", (*_OF_ALERT, "repeated")
)
ALERT_RESOLVED = LogEvent("alert_resolved", INFO, "alert resolved: {names}: {words}", _OF_ALERT)
ALERT_EVALUATION_FAILED = LogEvent(
    "alert_evaluation_failed",
    ERROR,
    "the alert rules of project {project} cannot be evaluated: {error}",
    ("project", "error"),
)
CHECK_INS_FAILED = LogEvent(
    "check_ins_failed",
    WARNING,
    "check-ins of {job} are not accepted: {error}",
    ("job", "project", "error"),
)
CHECK_INS_RECOVERED = LogEvent(
    "check_ins_recovered", INFO, "check-ins of {job} are accepted again", ("job", "project")
)
JOB_PAUSED = LogEvent("job_paused", WARNING, "paused job {job}: {reason}", ("job", "reason"))
JOB_FINISHED = LogEvent(
    "job_finished",
    WARNING,
    "job {job} has no fire time left; it is recorded as finished",
    ("job",),
)
STORE_UNAVAILABLE = LogEvent(
    "store_unavailable", WARNING, "the store failed; retrying: {cause}", ("error", "seconds")
)
STORE_RECOVERED = LogEvent(
    "store_recovered",
    WARNING,
    "the store works again after {seconds} s and {failures} failed steps",
    ("seconds", "failures"),
)
LOOP_FAILING = LogEvent(
    "loop_failing", WARNING, "{loop} failed; retrying: {cause}", ("loop", "error", "seconds")
)
LOOP_RECOVERED = LogEvent(
    "loop_recovered",
    WARNING,
    "{loop} works again after {seconds} s and {failures} failed steps",
    ("loop", "seconds", "failures"),
)
STEP_FAILED = LogEvent(
    "step_failed",
    DEBUG,
    "{loop} failed ({failures} in a row), next try in {retry_in} s: {cause}",
    ("loop", "failures", "retry_in", "error"),
)
STEP_RECOVERED = LogEvent(
    "step_recovered",
    DEBUG,
    "{loop} works again after {failures} failures",
    ("loop", "failures"),
)
NOTIFICATIONS_STARTED = LogEvent(
    "notifications_started", DEBUG, "listening to {source}", ("source",)
)
NOTIFICATIONS_LOST = LogEvent(
    "notifications_lost",
    WARNING,
    "{source} is unavailable ({reason}); polling every {poll:g} s instead",
    ("source", "reason", "poll"),
)
NOTIFICATIONS_RESTORED = LogEvent(
    "notifications_restored",
    WARNING,
    "{source} works again after {seconds} s and {failures} failed tries",
    ("source", "seconds", "failures"),
)
LISTENER_FAILED = LogEvent(
    "listener_failed", ERROR, "listener {listener} raised {cause}", ("listener", "error")
)
INSECURE_LINK = LogEvent(
    "insecure_link", WARNING, "the link to {setting} {reason}", ("setting", "reason")
)
FIRST_USER_CREATED = LogEvent(
    "first_user_created",
    WARNING,
    "the dashboard has its first user: tickwell users link {user} --store {store} --address URL"
    " prints a login link; URL is where it is mounted, e.g. https://example.com/scheduler",
    ("user", "store"),
)
REQUEST_FAILED = LogEvent(
    "request_failed",
    ERROR,
    "request {request_id} failed: {method} {path}",
    ("request_id", "method", "path", "error"),
)
HTTP_REQUEST = LogEvent(
    "http_request",
    DEBUG,
    "{method} {path} {status}",
    ("method", "path", "status", "client"),
)
FEED_FAILED = LogEvent(
    "feed_failed",
    ERROR,
    "reading the events of project {project} failed; retrying",
    ("project", "error"),
)
TRACES_UNAVAILABLE = LogEvent(
    "traces_unavailable",
    WARNING,
    "no traces are sent: {reason}",
    ("reason",),
)
METRICS_UNSHARED = LogEvent(
    "metrics_unshared",
    WARNING,
    "the metrics of this process are not shared: {reason}",
    ("folder", "reason"),
)
LINES_DROPPED = LogEvent(
    "log_lines_dropped",
    WARNING,
    "{count} log lines were dropped: the log could not be written",
    ("count",),
)
LINE = LogEvent("log", INFO, "{message}", ("logger", "error"))

ALL = tuple(each for each in list(globals().values()) if isinstance(each, LogEvent))
