"""Where the platform's store stands is told to those who run the platform, and to nobody else."""

from __future__ import annotations

from tickwell.services.access.actor import Actor
from tickwell.services.access.permission import Permission


def store_name_for(actor: Actor, name: str) -> str:
    """The store's name, or what kind of store it is: no host, no path."""
    return name if Permission.PLATFORM in actor.permissions else name.partition(":")[0]
