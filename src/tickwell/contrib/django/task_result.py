"""Executions as results of Django's task framework."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Any

from django.conf import settings
from django.utils import timezone

from tickwell.contrib.django.framework import TaskError, TaskResult, TaskResultStatus
from tickwell.declared.read_models import Attempt, Execution
from tickwell.domain.execution import OutcomeKind, State

_STATUS = {
    State.WAITING: TaskResultStatus.READY,
    State.BLOCKED: TaskResultStatus.READY,
    State.QUEUED: TaskResultStatus.READY,
    State.PARKED: TaskResultStatus.READY,
    State.RUNNING: TaskResultStatus.RUNNING,
    State.SUCCEEDED: TaskResultStatus.SUCCESSFUL,
    State.DEAD: TaskResultStatus.FAILED,
    State.CANCELLED: TaskResultStatus.FAILED,
    State.SKIPPED: TaskResultStatus.FAILED,
}
#: The line of a traceback that names the exception, after the frames.
_RAISED = re.compile(
    r'.*^ +File "[^\n]*\n(?: [^\n]*\n)*([A-Za-z_][\w.]*)(?::|$)', re.DOTALL | re.MULTILINE
)
_FAILED = {OutcomeKind.FAILED, OutcomeKind.TIMED_OUT, OutcomeKind.LOST, OutcomeKind.CANCELLED}


def result_of(task: Any, execution: Execution[Any], backend: str) -> Any:
    """The result that the execution stands for."""
    payload = execution.payload or {}
    tried = [each for each in execution.attempts if not _is_untried(each)]
    workers = [each.worker or "" for each in tried]
    started = [each.started_at for each in tried if each.started_at is not None]
    if execution.state is State.RUNNING:
        workers.append(execution.worker or "")
        started += [] if execution.started_at is None else [execution.started_at]
    result = TaskResult(
        task=task,
        id=execution.id,
        status=_STATUS[execution.state],
        enqueued_at=_instant(execution.created_at),
        started_at=_instant(started[0] if started else None),
        last_attempted_at=_instant(started[-1] if started else None),
        finished_at=_instant(execution.ended_at),
        args=payload.get("args", []),
        kwargs=payload.get("kwargs", {}),
        backend=backend,
        errors=[_error(each) for each in tried if each.outcome in _FAILED],
        worker_ids=workers,
    )
    object.__setattr__(result, "_return_value", execution.result)
    return result


def as_enqueued(task: Any, execution: Execution[Any]) -> Any:
    """The task as it was when it was enqueued."""
    later = execution.fire_time > execution.created_at
    return task.using(
        queue_name=execution.queue,
        priority=(execution.payload or {}).get("priority"),
        run_after=_instant(execution.fire_time) if later else None,
    )


def _instant(value: datetime | None) -> datetime | None:
    """As the project has its datetimes."""
    return value if value is None or settings.USE_TZ else timezone.make_naive(value)


def _is_untried(attempt: Attempt) -> bool:
    """Given back before anything started."""
    return attempt.outcome is OutcomeKind.RELEASED and attempt.started_at is None


def _error(attempt: Attempt) -> Any:
    return TaskError(exception_class_path=_class_of(attempt), traceback=attempt.error or "")


def _class_of(attempt: Attempt) -> str:
    if attempt.outcome is OutcomeKind.TIMED_OUT:
        return "builtins.TimeoutError"
    if attempt.outcome is OutcomeKind.CANCELLED:
        return "asyncio.CancelledError"
    found = _RAISED.match(attempt.error or "")
    if attempt.outcome is OutcomeKind.LOST or not found:
        return "builtins.RuntimeError"
    return found[1] if "." in found[1] else f"builtins.{found[1]}"
