"""What people ask when jobs do not run."""

from __future__ import annotations

from collections.abc import Sequence

from tickwell.clock import wall_millis
from tickwell.services.access.actor import Actor, needs
from tickwell.services.access.permission import Permission
from tickwell.services.checkup import Checkup, Finding, link_findings
from tickwell.services.discretion import store_name_for
from tickwell.services.operations.tools import Tools


class CheckupOperations:
    """Looks at the actor's project, and at what all projects share; repairs nothing."""

    def __init__(self, tools: Tools) -> None:
        self.tools = tools

    @needs(Permission.READ)
    async def findings(self, actor: Actor) -> Sequence[Finding]:
        """Everything that was looked at, by the clock of this host."""
        store = self.tools.store
        called = store_name_for(actor, store.name)
        found = await Checkup(store, actor.project, called).findings(wall_millis())
        if Permission.PLATFORM not in actor.permissions:
            return found
        return [*link_findings(self.tools.weak_links), *found]
