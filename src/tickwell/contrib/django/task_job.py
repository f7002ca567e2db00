"""Jobs for tasks that are enqueued on another queue, or with another priority, than declared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tickwell.declared.internals import internals
from tickwell.declared.job_api import JobApi
from tickwell.declared.policies import Policies
from tickwell.domain.job import Job
from tickwell.domain.target import Call
from tickwell.domain.trigger import OnDemand
from tickwell.errors import JobExists, NotFound


@dataclass(frozen=True, slots=True)
class TaskJob:
    """The handler of a task under other policies."""

    handler: str
    policies: Policies

    async def ensure(
        self, name: str, scheduler: JobApi, before_write: Callable[[], Any] = lambda: None
    ) -> None:
        """Have the job in the store as the code wants it."""
        try:
            entry = await internals(scheduler).jobs.get(scheduler.project, name)
        except NotFound:
            before_write()
            try:
                await scheduler.add_job(name, None, Call(self.handler), **self.policies)
            except JobExists:
                return  # another process was faster
            return
        if any(getattr(entry.job, policy) != value for policy, value in self._normal().items()):
            before_write()
            await scheduler.edit_job(name, **self.policies)

    def _normal(self) -> dict[str, Any]:
        """The policies as a job has them: durations as milliseconds, choices as members."""
        policies: dict[str, Any] = {**self.policies}
        made = Job(id="", name="job", trigger=OnDemand(), target=Call(self.handler), **policies)
        return {policy: getattr(made, policy) for policy in policies}
