"""What is checked before a job is saved: who may set its sender, and what its workers lack."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from tickwell.clock import Clock
from tickwell.domain.coverage import Coverage
from tickwell.domain.http import Http
from tickwell.domain.job import Job
from tickwell.domain.sender import SENDER_SECRET, is_sender
from tickwell.domain.target import Call
from tickwell.errors import Conflict, StoreError
from tickwell.ports.store import HistoryStore
from tickwell.services.access.actor import Actor, Permission


def allowed_to(actor: Actor) -> Callable[[Job], None]:
    """Refuses such a job to others than admins."""

    def admit(job: Job) -> None:
        if is_sender(job):
            actor.require(Permission.ADMINISTER)

    return admit


def refuse_sender(job: Job) -> None:
    """The same in words that name it, for an act on many that goes on with the others."""
    if is_sender(job):
        raise Conflict(f"{job.name} sends callbacks or alerts; only admins may do this")


def require_own_secrets(actor: Actor, jobs: Iterable[Job]) -> None:
    """Refuse a webhook that would use the secret of a callback or of a channel."""
    if Permission.ADMINISTER in actor.permissions:
        return
    # Those of one request may share one target.
    for target in {id(job.target): job.target for job in jobs}.values():
        if isinstance(target, Http) and any(map(SENDER_SECRET.search, target.texts())):
            actor.require(Permission.ADMINISTER)


async def job_warnings(store: HistoryStore, clock: Clock, jobs: Sequence[Job]) -> list[str]:
    """Each handler or queue that no live worker has for these jobs, in the words of health.

    A job may be saved before its worker is deployed, so this warns and never refuses. A handler of
    another project gets the same words as one that does not exist.
    """
    lanes = {(job.queue, job.ability): None for job in jobs if isinstance(job.target, Call)}
    if not lanes:
        return []
    now = clock.now()
    try:
        workers = await store.list_workers()
    except StoreError:
        return []  # the job itself is saved or read, and that is what the caller asked for
    coverage = Coverage(each for each in workers if each.is_counted_on(now))
    gaps = dict.fromkeys(coverage.lane_gap(*lane) for lane in lanes)
    return [f"{gap}; executions wait until one does" for gap in gaps if gap]
