"""The handler of a task: calls it as Django's framework wants it called."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.utils import timezone

from tickwell.contrib.django.framework import (
    TaskContext,
    TaskError,
    TaskResult,
    TaskResultStatus,
    normalize_json,
    task_finished,
    task_started,
)
from tickwell.executors.run import Run
from tickwell.executors.words import describe


def handler_for(task: Any, backend: type) -> Callable[..., Any]:
    """A function for the scheduler that takes what `enqueue` was given."""

    def call(
        run: Run,
        args: list[Any] | None = None,
        kwargs: dict[str, Any] | None = None,
        **_: Any,  # the priority, which results need
    ) -> Any:
        with _attempt(task, backend, run, args or [], kwargs or {}) as (result, context_arguments):
            return _keep(result, task.func(*context_arguments, **result.kwargs))

    async def call_async(
        run: Run,
        args: list[Any] | None = None,
        kwargs: dict[str, Any] | None = None,
        **_: Any,
    ) -> Any:
        with _attempt(task, backend, run, args or [], kwargs or {}) as (result, context_arguments):
            return _keep(result, await task.func(*context_arguments, **result.kwargs))

    return call_async if inspect.iscoroutinefunction(task.func) else call


@contextmanager
def _attempt(
    task: Any, backend: type, run: Run, args: list[Any], kwargs: dict[str, Any]
) -> Iterator[tuple[Any, list[Any]]]:
    """The result as far as it is known, the arguments, and a signal before and after."""
    now = timezone.now()
    result = TaskResult(
        task=task,
        id=run.id,
        status=TaskResultStatus.RUNNING,
        enqueued_at=run.fire_time,
        started_at=now,
        last_attempted_at=now,
        finished_at=None,
        args=args,
        kwargs=kwargs,
        backend=task.backend,
        errors=[],
        worker_ids=[run.worker] * run.attempt,
    )
    task_started.send(sender=backend, task_result=result)
    status = TaskResultStatus.SUCCESSFUL
    try:
        context = [TaskContext(task_result=result)] if task.takes_context else []
        yield result, [*context, *result.args]
    except Exception as error:
        status = TaskResultStatus.FAILED
        kind = type(error)
        result.errors.append(
            TaskError(
                exception_class_path=f"{kind.__module__}.{kind.__qualname__}",
                traceback=describe(error),
            )
        )
        _end(result, status)
        task_finished.send(sender=backend, task_result=result)
        raise
    _end(result, status)
    task_finished.send(sender=backend, task_result=result)


def _keep(result: Any, value: Any) -> Any:
    """What the framework can keep of it: JSON; anything else is the task's failure."""
    object.__setattr__(result, "_return_value", normalize_json(value))
    return result._return_value  # noqa: SLF001 - the framework's own way


def _end(result: Any, status: Any) -> None:
    object.__setattr__(result, "finished_at", timezone.now())
    object.__setattr__(result, "status", status)
