"""The handlers that jobs of a project may call, checked when a job is saved."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.clock import Clock
from tickwell.domain.ability import is_able, is_call
from tickwell.domain.job import Job
from tickwell.domain.target import Call
from tickwell.errors import InvalidJob
from tickwell.ports.store import HistoryStore


async def require_usable(
    store: HistoryStore, clock: Clock, project: str, jobs: Sequence[Job]
) -> None:
    """Refuse a handler that no live worker has for the project, whoever else's it may be.

    One of another project is refused in the same words as one that nobody has. While no worker
    with any handler is alive there is nothing to compare with: then the job is saved, and its
    executions are parked until its worker starts.
    """
    calls = [job.target for job in jobs if isinstance(job.target, Call)]
    if not calls:
        return
    now = clock.now()
    alive = [each.worker for each in await store.list_workers() if each.is_counted_on(now)]
    announced = {ability for each in alive for ability in each.abilities}
    if not any(map(is_call, announced)):
        return
    for target in calls:
        if not is_able(target.ability_in(project), announced):
            raise InvalidJob(
                f"no live worker has a handler {target.handler[:40]!r} for project {project!r}",
                field="target.call.handler",
                hint="Start the application that declares it for this project, or as shared",
            )
