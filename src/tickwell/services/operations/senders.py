"""The jobs that send callbacks are the admins': what they send is signed in the project's name."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tickwell.domain.http import Http
from tickwell.domain.job import Job
from tickwell.errors import Conflict
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission
from tickwell.services.callbacks.callback import SIGNING_KEY, is_sender


def allowed_to(actor: Actor) -> Callable[[Job], None]:
    """Refuses such a job to others than admins."""

    def admit(job: Job) -> None:
        if is_sender(job):
            actor.require(Permission.ADMINISTER)

    return admit


def refuse_sender(job: Job) -> None:
    """The same in words that name it, for an act on many that goes on with the others."""
    if is_sender(job):
        raise Conflict(f"{job.name} sends a callback, and so is the admins'")


def require_own_secrets(actor: Actor, jobs: Iterable[Job]) -> None:
    """Refuse a webhook that would take the key of a callback elsewhere, or sign with it."""
    if Permission.ADMINISTER in actor.permissions:
        return
    # Those of one request may share one target.
    for target in {id(job.target): job.target for job in jobs}.values():
        if isinstance(target, Http) and any(map(SIGNING_KEY.search, target.texts())):
            actor.require(Permission.ADMINISTER)
