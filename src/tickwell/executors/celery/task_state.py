"""What a result backend says of a task, and the outcome that it means for the attempt."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tickwell.domain.celery import Celery
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.outcome import Outcome
from tickwell.executors.results import MARK
from tickwell.executors.text import end_of, shown
from tickwell.executors.words import ERROR_LIMIT, succeeded
from tickwell.log.headline import headline

#: States after which a task does not change any more.
ENDED = frozenset({"SUCCESS", "FAILURE", "REVOKED", "REJECTED", "IGNORED"})
#: A result that was not written as JSON: how the task ended is inside it.
UNREADABLE = "UNREADABLE"
#: What to do about a result that is not JSON. A pickle is never read: it may contain any code.
_WRITE_JSON = (
    'Set result_serializer = "json" in the Celery app;'
    " with a database as result backend, upgrade the Celery workers to 5.7 or later"
)
_TIME_LIMITS = frozenset({"SoftTimeLimitExceeded", "TimeLimitExceeded"})


@dataclass(frozen=True, slots=True)
class TaskState:
    """The state of a task as its result backend has it."""

    status: str
    result: Any = None
    traceback: str | None = None
    #: Why the result could not be read, although the status could; empty: it could.
    unread: str = ""

    @property
    def has_ended(self) -> bool:
        """Whether it stays like this."""
        # Not by `in`: what a stranger wrote into the backend may be a list.
        return any(self.status == ended for ended in (*ENDED, UNREADABLE))


def outcome_of(state: TaskState, target: Celery) -> Outcome:
    """The outcome of the attempt whose task has ended."""
    match state.status:
        case "SUCCESS":
            return succeeded(_result(state))
        case "IGNORED":
            return Outcome(kind=OutcomeKind.SUCCEEDED, result={"ignored": True})
        case "REVOKED":
            return Outcome(kind=OutcomeKind.CANCELLED, error=f"revoked in Celery{_why(state)}")
        case "REJECTED":
            error = f"the Celery worker rejected the task{_why(state)}"
            return Outcome(kind=OutcomeKind.FAILED, error=error)
    if state.status == UNREADABLE:
        error = f"the task ended, but its result is not JSON ({state.result}). {_WRITE_JSON}"
        return Outcome(kind=OutcomeKind.FAILED, error=error, retry=False)
    return _failure(state, target)


def _result(state: TaskState) -> Any:
    """What the task returned; a note where that could not be read."""
    return {MARK: f"not JSON ({state.unread}). {_WRITE_JSON}"} if state.unread else state.result


def _failure(state: TaskState, target: Celery) -> Outcome:
    kind, message = exception_of(state)
    if kind == "NotRegistered":
        where = f" of queue {target.queue!r}" if target.queue else ""
        error = (
            f"the Celery worker{where} has no task {target.task!r}."
            " Correct the name, or import the task's module in the Celery app"
        )
        return Outcome(kind=OutcomeKind.FAILED, error=error, retry=False)
    return Outcome(
        kind=OutcomeKind.TIMED_OUT if kind in _TIME_LIMITS else OutcomeKind.FAILED,
        error=end_of(state.traceback or f"{kind}: {message}", ERROR_LIMIT),
    )


def exception_of(state: TaskState) -> tuple[str, str]:
    """The type and the message of a task's exception: of the result, or of its traceback."""
    result = state.result
    if state.unread:
        if not state.traceback:
            return "Exception", f"not JSON ({state.unread}). {_WRITE_JSON}"
        kind, _, message = headline(state.traceback).partition(": ")
        return kind.rpartition(".")[2], message
    if not isinstance(result, dict):
        return "Exception", "" if result is None else str(result)
    message = result.get("exc_message", "")
    if isinstance(message, list | tuple):
        message = ", ".join(map(str, message))
    return str(result.get("exc_type", "Exception")), str(message)


def _why(state: TaskState) -> str:
    _, message = exception_of(state)
    return f": {shown(message)}" if message else ""
