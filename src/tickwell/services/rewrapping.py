"""After a new server key: everything that is sealed goes under it, without being opened."""

from __future__ import annotations

from tickwell.services.access.actor import Actor, needs
from tickwell.services.access.issuer import Issuer
from tickwell.services.access.permission import Permission
from tickwell.services.audit.audit import Audit
from tickwell.services.platform import PLATFORM
from tickwell.services.projects import Projects
from tickwell.services.secrets.secrets import Secrets


class Rewrapping:
    """May be run at any time, by any process, as often as one likes."""

    def __init__(self, projects: Projects, secrets: Secrets, issuer: Issuer, audit: Audit) -> None:
        self._projects = projects
        self._secrets = secrets
        self._issuer = issuer
        self._audit = audit

    @needs(Permission.PLATFORM)
    async def run(self, actor: Actor) -> int:
        """Rewrap what is under another key than the current one; how many those were."""
        moved = await self._issuer.rewrap()
        for project in await self._projects.list(actor):
            moved += await self._secrets.rewrap(project.name)
        await self._audit.record(
            actor, "platform.rewrap", "secrets", None, {"rewrapped": moved}, project=PLATFORM
        )
        return moved
