"""What people ask when jobs do not run."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.domain.health import Finding
from tickwell.services.access.actor import Actor, needs
from tickwell.services.access.permission import Permission
from tickwell.services.health import weak_link_findings
from tickwell.services.operations.tools import Tools


class CheckupOperations:
    """Looks at the actor's project, and at what all projects share; repairs nothing."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    @needs(Permission.READ)
    async def findings(self, actor: Actor) -> Sequence[Finding]:
        """Everything that was checked, the worst first."""
        health = await self.tools.health.of(actor)
        if Permission.PLATFORM not in actor.permissions:
            return health.findings
        return [*health.findings, *weak_link_findings(self.tools.weak_links)]
