"""Where the platform's store stands is told to those who run the platform, and to nobody else."""

from __future__ import annotations

from dataclasses import replace

from tickwell.domain.health import Health
from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission


def store_name_for(actor: Actor, name: str) -> str:
    """The store's name, or what kind of store it is: no host, no path."""
    return name if _runs_the_platform(actor) else name.partition(":")[0]


def health_for(actor: Actor, health: Health) -> Health:
    """What is wrong, or only where: the error of a store names its host.

    Why executions are parked names handlers of all projects; a checkup has those of one.
    """
    if _runs_the_platform(actor):
        return health
    problems = [_without_reason(each) for each in health.problems]
    return replace(health, problems=problems, parked=[])


def _without_reason(problem: str) -> str:
    where, mark, _ = problem.partition(": ")
    return f"{where} fails" if mark else problem


def _runs_the_platform(actor: Actor) -> bool:
    return Permission.PLATFORM in actor.permissions
