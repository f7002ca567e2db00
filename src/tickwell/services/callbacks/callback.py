"""A callback as it is stored, and what it is told."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tickwell.clock import to_datetime
from tickwell.domain.event import LATE
from tickwell.domain.execution import Execution, OutcomeKind, Reason, State
from tickwell.domain.explanation import explanation_of
from tickwell.domain.job import BY_POLICY, Entry, Job, Pause
from tickwell.domain.outcome import Report
from tickwell.domain.sender import CALLBACK, is_sender, sender_name
from tickwell.domain.trigger.moment import to_text

#: The callback, in its project; that a project has some, of the platform.
KIND, PROJECTS_KIND = "callback", "callback_project"
#: Outcomes that an execution has in its counts, unless a revival began them anew.
_TRIED = frozenset({OutcomeKind.SUCCEEDED, OutcomeKind.FAILED, OutcomeKind.TIMED_OUT})


class CallbackEvent(StrEnum):
    """What a callback may be told of."""

    #: An execution succeeded.
    SUCCEEDED = "succeeded"
    #: An attempt failed, timed out or was lost, whether or not another follows.
    FAILED = "failed"
    #: An execution died.
    DEAD = "dead"
    #: An execution succeeded that had died before, or the one before it of the same job had.
    RECOVERED = "recovered"
    #: An attempt that has ended had started late.
    LATE = "late"
    #: An execution was cancelled.
    CANCELLED = "cancelled"
    #: An execution was skipped, and not because somebody changed its job.
    SKIPPED = "skipped"
    #: A job was paused by its policy, or by its target.
    PAUSED = "paused"


#: What an execution that ended so is news of, besides success.
_BY_STATE = {
    State.DEAD: CallbackEvent.DEAD,
    State.CANCELLED: CallbackEvent.CANCELLED,
    State.SKIPPED: CallbackEvent.SKIPPED,
}
#: Skips that follow from a change of the job, a pause or a maintenance window.
_MEANT = frozenset({Reason.WITHDRAWN, Reason.PAUSED, Reason.MAINTENANCE})
#: In which states the executions ended that an event is about, for those that look for it.
STATES = {
    CallbackEvent.SUCCEEDED: {State.SUCCEEDED},
    CallbackEvent.RECOVERED: {State.SUCCEEDED},
    CallbackEvent.FAILED: {State.DEAD},
    CallbackEvent.DEAD: {State.DEAD},
    CallbackEvent.LATE: {State.SUCCEEDED, State.DEAD, State.CANCELLED},
    CallbackEvent.CANCELLED: {State.CANCELLED},
    CallbackEvent.SKIPPED: {State.SKIPPED},
    CallbackEvent.PAUSED: set[State](),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Callback:
    """Whom to tell, and of what."""

    #: Also the id of the job that sends it.
    id: str
    url: str
    events: frozenset[CallbackEvent]
    #: The id of the only job to tell of; None: all of the project.
    job: str | None
    created_at: int
    created_by: str

    @property
    def sender(self) -> str:
        """The name of the job that sends it, and of the secret that signs it."""
        return sender_name(CALLBACK, self.id)


@dataclass(frozen=True, slots=True)
class News:
    """What happened to an execution."""

    project: str
    job: str
    execution: str
    attempt: int
    fire_time: int
    ended_at: int
    error: str | None
    #: Why it is dead, cancelled or skipped, in words; None: it is none of these.
    why: str | None
    kinds: frozenset[CallbackEvent]


def news_of_report(report: Report) -> News | None:
    """What an ended attempt is news of; None when there is nothing to tell."""
    claim, kinds = report.claim, set()
    if is_sender(claim.job):
        return None
    if report.outcome is OutcomeKind.SUCCEEDED:
        kinds.add(CallbackEvent.SUCCEEDED)
    if report.outcome in {OutcomeKind.FAILED, OutcomeKind.TIMED_OUT, OutcomeKind.LOST}:
        kinds.add(CallbackEvent.FAILED)
    if report.started_at is not None and report.started_at - claim.run_at >= LATE:
        kinds.add(CallbackEvent.LATE)
    if report.state in _BY_STATE:
        kinds.add(_BY_STATE[report.state])
    if not kinds:
        return None
    return News(
        claim.job.project,
        claim.job.id,
        claim.id,
        claim.attempt,
        claim.fire_time,
        report.ended_at,
        report.error,
        _why(report.state, report.reason),
        frozenset(kinds),
    )


def news_of_execution(execution: Execution) -> News:
    """What an ended execution is news of."""
    kinds, started = {_BY_STATE.get(execution.state, CallbackEvent.SUCCEEDED)}, execution.started_at
    if execution.state is State.DEAD:
        kinds.add(CallbackEvent.FAILED)
    if execution.state is State.SKIPPED and execution.reason in _MEANT:
        kinds.clear()
    if started is not None and started - execution.run_at >= LATE:
        kinds.add(CallbackEvent.LATE)
    return News(
        execution.project,
        execution.job_id,
        execution.id,
        execution.attempt,
        execution.fire_time,
        execution.ended_at or 0,
        execution.error,
        _why(execution.state, execution.reason),
        frozenset(kinds),
    )


def _why(state: State, reason: str | None) -> str | None:
    return (explanation_of(state, reason) or None) if state in _BY_STATE else None


@dataclass(frozen=True, slots=True)
class PauseNews:
    """A job that is paused by no person."""

    job: Job
    pause: Pause


def pause_of(entry: Entry) -> PauseNews | None:
    """The pause of a job that a policy or its target asked for; None: there is none."""
    pause = entry.cursor.pause
    if pause is None or pause.by != BY_POLICY or is_sender(entry.job):
        return None
    return PauseNews(entry.job, pause)


def pause_message(news: PauseNews) -> dict[str, Any]:
    """The payload, in the form of Standard Webhooks."""
    return {
        "type": f"job.{CallbackEvent.PAUSED.value}",
        "timestamp": to_text(to_datetime(news.pause.since)),
        "data": {
            "project": news.job.project,
            "job_id": news.job.id,
            "job_name": news.job.name,
            "by": news.pause.by,
            "reason": news.pause.why,
        },
    }


def was_revived(execution: Execution) -> bool:
    """Whether it had died before it succeeded: the budget began anew, what was tried stays."""
    outcomes = Counter(each.outcome for each in execution.attempts)
    losses = outcomes.pop(OutcomeKind.LOST, 0)
    tried = sum(count for outcome, count in outcomes.items() if outcome in _TRIED)
    # Losses in a crowd count among those that were given back.
    return tried > execution.charged or losses > execution.lost + execution.returned


def message(news: News, kind: CallbackEvent, job_name: str | None) -> dict[str, Any]:
    """The payload, in the form of Standard Webhooks."""
    return {
        "type": f"execution.{kind.value}",
        "timestamp": to_text(to_datetime(news.ended_at)),
        "data": {
            "project": news.project,
            "job_id": news.job,
            "job_name": job_name,
            "execution_id": news.execution,
            "attempt": news.attempt,
            "fire_time": to_text(to_datetime(news.fire_time)),
            "error": news.error,
            "reason": news.why,
        },
    }


def to_document(callback: Callback) -> dict[str, Any]:
    """As it is stored."""
    return {
        "url": callback.url,
        "events": sorted(callback.events),
        "job": callback.job,
        "created_at": callback.created_at,
        "created_by": callback.created_by,
    }


def from_document(id: str, document: dict[str, Any]) -> Callback:
    """The callback in a stored document."""
    events = frozenset(map(CallbackEvent, document["events"]))
    return Callback(**document | {"id": id, "events": events})
