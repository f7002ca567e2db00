"""The backend for Django's task framework: every task is a job, every result an execution."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping
from typing import Any

from django.apps import apps
from django.core import checks
from django.core.exceptions import SynchronousOnlyOperation
from django.utils import timezone
from django.utils.module_loading import import_string

from tickwell.contrib.django.framework import (
    BaseTaskBackend,
    InvalidTask,
    Task,
    TaskResultDoesNotExist,
    normalize_json,
    task_enqueued,
)
from tickwell.contrib.django.task import POLICIES, TickwellTask, level, policies_of, trigger_of
from tickwell.contrib.django.task_handler import handler_for
from tickwell.contrib.django.task_job import TaskJob
from tickwell.contrib.django.task_result import as_enqueued, result_of
from tickwell.declared.policies import Policies
from tickwell.errors import InvalidInput, NotFound


class TickwellBackend(BaseTaskBackend):  # type: ignore[misc]
    """`TASKS = {"default": {"BACKEND": "tickwell.contrib.django.TickwellBackend"}}`."""

    task_class = TickwellTask
    supports_defer = True
    supports_async_task = True
    supports_get_result = True
    supports_priority = True

    def __init__(self, alias: str, params: Mapping[str, Any]) -> None:
        super().__init__(alias, params)
        from tickwell.contrib.django import scheduler

        self._scheduler = scheduler

    def validate_task(self, task: Any) -> None:
        """Refuse what cannot run; declare the job of a task that is seen for the first time."""
        super().validate_task(task)
        tasks = self._scheduler.tasks
        try:
            policies = policies_of(task, self.options)
            if task.module_path in tasks:
                self._job_of(task, policies)
                return
            declare = self._scheduler.job(trigger_of(task), name=task.module_path, **policies)
            declare(handler_for(task, type(self)))
        except InvalidInput as error:
            raise InvalidTask(f"{task.module_path}: {error}") from None
        tasks[task.module_path] = task

    def enqueue(self, task: Any, args: Any, kwargs: Any) -> Any:
        """Ask for a run; inside `atomic()` of the store's database, for one that it decides."""
        self.validate_task(task)
        _refuse_a_loop("enqueue", "aenqueue")
        payload = {"args": normalize_json(args), "kwargs": normalize_json(kwargs)}
        ask, name = self._scheduler.blocking, self._job_of(task, policies_of(task, self.options))
        if name != task.module_path:
            payload["priority"] = task.priority
            ask.ensure(name)
        if task.run_after is None:
            execution = ask.trigger(name, payload)
        else:
            after = task.run_after
            when = timezone.make_aware(after) if timezone.is_naive(after) else after
            execution = ask.trigger_at(when, name, payload)
        result = result_of(task, execution, self.alias)
        task_enqueued.send(sender=type(self), task_result=result)
        return result

    def get_result(self, result_id: str) -> Any:
        """The result of that id, as the store has it now."""
        _refuse_a_loop("get_result", "aget_result")
        try:
            execution = self._scheduler.blocking.get_execution(str(result_id))
            task = import_string(execution.job.partition(" [")[0])
        except (NotFound, ImportError) as error:
            raise TaskResultDoesNotExist(result_id) from error
        if not isinstance(task, Task):
            raise TaskResultDoesNotExist(result_id)
        return result_of(as_enqueued(task, execution), execution, self.alias)

    def check(self, **_: Any) -> Iterable[checks.CheckMessage]:
        """What keeps tasks from running, for `manage.py check`."""
        if not apps.is_installed("tickwell.contrib.django"):
            yield checks.Error(
                "TASKS names TickwellBackend, and its app is not installed",
                hint='Add "tickwell.contrib.django" to INSTALLED_APPS.',
                id="tickwell.E001",
            )
        for name in set(self.options) - set(POLICIES):
            yield checks.Error(
                f"TASKS[{self.alias!r}]['OPTIONS'] has the unknown option {name!r}",
                hint=f"Expected one of {', '.join(POLICIES)}.",
                id="tickwell.E002",
            )

    def _job_of(self, task: Any, policies: Policies) -> str:
        """The job to run: the task's own, or that for another queue or priority."""
        path: str = task.module_path
        declared = self._scheduler.tasks[path]
        queue, priority = task.queue_name, level(task.priority)
        if (queue, priority) == (declared.queue_name, level(declared.priority)):
            return path
        name = f"{path} [{queue}, priority {priority}]"
        self._scheduler.task_jobs.setdefault(name, TaskJob(path, policies))
        return name


def _refuse_a_loop(call: str, instead: str) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return
    raise SynchronousOnlyOperation(
        f"{call}() would stop the event loop that it is called in; await {instead}() instead"
    )
