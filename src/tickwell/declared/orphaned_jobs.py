"""Orphaned jobs: removed from the code, and paused once no live worker has their handler."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tickwell.declared.syncing import Synced

#: Seconds between two looks.
REST = 30.0


class OrphanedJobs:
    """`engine.loop.Service`: pauses jobs that a start left to a worker that was still alive."""

    name = "orphaned_jobs"

    def __init__(self, pause_orphans: Callable[[], Awaitable[Synced]]) -> None:
        self.wake: Callable[[], None] = lambda: None
        self._pause_orphans = pause_orphans

    async def step(self) -> float:
        """Look again. Two programs that share an app by mistake are never done."""
        await self._pause_orphans()
        return REST
