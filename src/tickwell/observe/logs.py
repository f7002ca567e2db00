"""Engine events as log lines: which event writes which line, with which fields."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from typing import Any

from tickwell.domain import event as events
from tickwell.domain.current import claim_fields, new_fields
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.http import Http
from tickwell.domain.http.url import parse_url
from tickwell.domain.outcome import Report
from tickwell.log import events as lines
from tickwell.log.event import LogEvent, wants
from tickwell.log.headline import headline
from tickwell.observe.outages import Outages

#: Outcomes whose line is that of a failed attempt, where another one follows.
_RETRIED = frozenset({OutcomeKind.FAILED, OutcomeKind.TIMED_OUT, OutcomeKind.LOST})
#: The same where none follows. Of lost attempts `executions_recovered` tells.
_FAILED = frozenset({OutcomeKind.FAILED, OutcomeKind.TIMED_OUT})
#: Ids that one line lists: thousands may be recovered at once.
_MOST_IDS = 20

_LINES: dict[type, tuple[LogEvent, Callable[[Any], dict[str, Any]]]] = {
    events.Started: (lines.ENGINE_STARTED, lambda e: {"worker": e.worker}),
    events.Stopped: (lines.ENGINE_STOPPED, lambda e: {"released": e.released}),
    events.Idle: (lines.WORKER_IDLE, lambda e: {"worker": e.worker}),
    events.Planned: (
        lines.FIRES_PLANNED,
        lambda e: {"executions": e.executions, "skipped": e.skipped},
    ),
    events.JobUnreadable: (lines.JOB_UNREADABLE, lambda e: {"job": e.job, "reason": e.why}),
    events.AttemptsFenced: (
        lines.ATTEMPTS_FENCED,
        lambda e: {
            "count": len(e.reports),
            "executions": _ids([report.claim.id for report in e.reports]),
        },
    ),
    events.WorkerLost: (
        lines.WORKER_LOST,
        lambda e: {
            "worker": e.worker,
            "lost_host": e.host,
            "process_id": e.pid,
            "roles": ",".join(e.roles) or "supervisor",
        },
    ),
    events.Parked: (
        lines.EXECUTIONS_PARKED,
        lambda e: {
            "count": e.executions,
            "ability": e.ability,
            "queue": e.queue,
            "reason": e.reason or "no live worker can run them",
        },
    ),
    events.BacklogHeld: (
        lines.BACKLOG_HELD,
        lambda e: {"project": e.project, "jobs": e.jobs, "runs": e.runs},
    ),
    events.JobPaused: (lines.JOB_PAUSED, lambda e: {"job": e.job, "reason": e.why}),
    events.JobOver: (lines.JOB_FINISHED, lambda e: {"job": e.job}),
    events.ProcessEnded: (
        lines.WORKER_PROCESS_ENDED,
        lambda e: {"process_id": e.pid, "exit_code": e.code, "retry_in": round(e.rest, 1)},
    ),
    events.ListenerFailed: (
        lines.LISTENER_FAILED,
        lambda e: {"listener": e.listener, "error": repr(e.error)},
    ),
}


class EventLog:
    """The log lines of one process's events."""

    def __init__(self) -> None:
        self._outages = Outages()
        #: Whether triggered and succeeded executions are lines at info, not at debug.
        self.logs_runs = False

    def hear(self, event: events.Event) -> None:
        """Write the line of an event, if it has one."""
        if isinstance(event, events.AttemptsFinished):
            self._finished(event)
        elif isinstance(event, events.Triggered):
            self._triggered(event)
        elif isinstance(event, events.Recovered):
            self._recovered(event)
        elif isinstance(event, events.StepFailed):
            self._outages.failed(event)
        elif isinstance(event, events.StepRecovered):
            self._outages.recovered(event)
        elif (known := _LINES.get(type(event))) is not None:
            line, fields = known
            if wants(line.level):
                line.log(**fields(event))

    @property
    def _run_level(self) -> int:
        return logging.INFO if self.logs_runs else logging.DEBUG

    def _triggered(self, event: events.Triggered) -> None:
        if wants(self._run_level):
            for new in event.executions:
                lines.EXECUTION_TRIGGERED.log(self._run_level, **new_fields(new))

    def _recovered(self, event: events.Recovered) -> None:
        """One line for all, as a lost worker may have held thousands, and one per dead letter."""
        ids = event.executions
        lines.EXECUTIONS_RECOVERED.log(count=len(ids), executions=_ids(ids))
        for report in event.reports:
            if report.state is State.DEAD:
                _unsuccessful(report)

    def _finished(self, event: events.AttemptsFinished) -> None:
        level = self._run_level
        runs = wants(level)
        for report in event.reports:
            if report.state is not State.SUCCEEDED:
                _unsuccessful(report)
            elif runs:
                lines.EXECUTION_SUCCEEDED.log(
                    level, **claim_fields(report.claim), duration=_duration(report)
                )


def _unsuccessful(report: Report) -> None:
    """Failed, dead, cancelled or returned to the queue."""
    for line, more in _lines_of(report):
        if wants(line.level):
            fields = {"duration": _duration(report), "error": report.error, **more}
            line.log(**claim_fields(report.claim), **fields)


def _lines_of(report: Report) -> Iterator[tuple[LogEvent, dict[str, Any]]]:
    outcome = {"outcome": report.outcome.value}
    if report.state is State.DEAD:
        # The last attempt counts as a failed attempt, too. Its traceback comes once.
        if report.outcome in _FAILED:
            cause = headline(report.error or "")
            more = {"next": "no retry", "error": cause}
            yield lines.EXECUTION_FAILED, {**outcome, **_host(report), **more}
        yield lines.EXECUTION_DEAD, {**outcome, "reason": report.reason}
    elif report.state is State.SKIPPED:
        return  # its job polls by this: no line for each time that there was nothing to do
    elif report.state is State.CANCELLED:
        yield lines.EXECUTION_CANCELLED, {"reason": report.reason}
    else:
        line = lines.EXECUTION_FAILED if report.outcome in _RETRIED else lines.EXECUTION_RETURNED
        rest = round(max(report.run_at - report.ended_at, 0) / 1000, 1)
        host = _host(report) if line is lines.EXECUTION_FAILED else {}
        yield line, {**outcome, **host, "retry_in": rest, "next": f"retry in {rest} s"}


def _host(report: Report) -> dict[str, str]:
    """Where a webhook was sent. Its path and query may be secrets, as those of chats are."""
    target = report.claim.job.target
    return {"target_host": parse_url(target.url).authority} if isinstance(target, Http) else {}


def _duration(report: Report) -> float | None:
    """Seconds that the attempt took, if it started."""
    if report.started_at is None:
        return None
    return round((report.ended_at - report.started_at) / 1000, 3)


def _ids(ids: Any) -> str:
    more = len(ids) - _MOST_IDS
    return " ".join(ids[:_MOST_IDS]) + (f" and {more} more" if more > 0 else "")
