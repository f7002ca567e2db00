"""What the jobs of a project add up to, counted when a limit asks for it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

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

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.jobs + other.jobs,
            self.per_day + other.per_day,
            self.per_minute + other.per_minute,
        )

    def __sub__(self, other: Usage) -> Usage:
        return self + Usage(-other.jobs, -other.per_day, -other.per_minute)


def usage_of(jobs: Iterable[Job]) -> Usage:
    """What jobs add up to."""
    return sum((Usage(1, *job.trigger.busiest()) for job in jobs), start=Usage())


async def count(store: CatalogStore, project: str, most: int) -> Usage:
    """The usage of a project; counting ends where it has more jobs than `most`, if not 0."""
    where = JobFilter(project=project, states=frozenset({JobState.ACTIVE, JobState.PAUSED}))
    usage, cursor = Usage(), None
    while True:
        page = await store.list_jobs(where, cursor, _PAGE)
        usage += usage_of(entry.job for entry in page.items)
        cursor = page.cursor
        if cursor is None or (most and usage.jobs > most):
            return usage
