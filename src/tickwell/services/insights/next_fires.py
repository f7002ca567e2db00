"""What fires next, over all jobs of a project."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tickwell.clock import NEVER
from tickwell.domain.job import Entry, JobState
from tickwell.ports.records import JobFilter
from tickwell.ports.store import CatalogStore
from tickwell.services.cooperative import paced
from tickwell.services.jobs.fire_times import due_or_upcoming

_ACTIVE = frozenset({JobState.ACTIVE})


@dataclass(frozen=True, slots=True, kw_only=True)
class Fire:
    """A fire time to come, or one in the past that is overdue."""

    job_id: str
    job: str
    instant: int


async def next_fires(store: CatalogStore, project: str, now: int, count: int) -> Sequence[Fire]:
    """The next fire of the `count` jobs that fire soonest."""
    soon = await store.list_jobs(
        JobFilter(project=project, states=_ACTIVE, fires_before=NEVER), limit=count
    )
    fires = [fire async for entry in paced(soon.items) for fire in _next(entry, now)]
    return sorted(fires, key=lambda fire: (fire.instant, fire.job))


def _next(entry: Entry, now: int) -> list[Fire]:
    return [
        Fire(job_id=entry.job.id, job=entry.job.name, instant=instant)
        for instant in due_or_upcoming(entry, now, 1)
    ]
