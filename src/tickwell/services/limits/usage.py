"""What the jobs of a project add up to, counted when a limit asks for it."""

from __future__ import annotations

from dataclasses import dataclass, replace

from tickwell.domain.job import Job, JobState
from tickwell.ports.records import JobFilter
from tickwell.ports.store import CatalogStore

_PAGE = 500


@dataclass(frozen=True, slots=True)
class Usage:
    """Jobs, and the fires that they can have on their busiest day and in their busiest minute."""

    jobs: int = 0
    per_day: int = 0
    per_minute: int = 0

    def plus(self, job: Job, sign: int = 1) -> Usage:
        """With a job more, or less."""
        day, minute = job.trigger.busiest()
        return replace(
            self,
            jobs=self.jobs + sign,
            per_day=self.per_day + sign * day,
            per_minute=self.per_minute + sign * minute,
        )


async def count(store: CatalogStore, project: str, most: int) -> Usage:
    """The usage of a project; counting ends where it has more jobs than `most`, if not 0."""
    where = JobFilter(project=project, states=frozenset({JobState.ACTIVE, JobState.PAUSED}))
    usage, cursor = Usage(), None
    while True:
        page = await store.list_jobs(where, cursor, _PAGE)
        for entry in page.items:
            usage = usage.plus(entry.job)
        cursor = page.cursor
        if cursor is None or (most and usage.jobs > most):
            return usage
