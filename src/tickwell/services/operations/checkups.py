"""What people ask when jobs do not run."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.clock import wall_millis
from tickwell.services.access.actor import Actor, needs
from tickwell.services.access.permission import Permission
from tickwell.services.checkup import Checkup, Finding
from tickwell.services.operations.tools import Tools


class CheckupOperations:
    """Looks at the actor's project, and at what all projects share; repairs nothing."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    @needs(Permission.READ)
    async def findings(self, actor: Actor) -> Sequence[Finding]:
        """Everything that was looked at, by the clock of this host."""
        return await Checkup(self.tools.store, actor.project).findings(wall_millis())
