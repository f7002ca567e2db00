"""Leaving: a job that is gone from the code is paused once the last worker that has it is gone."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from tickwell.declared.syncing import Synced

#: Seconds between two looks.
REST = 30.0


class Leaving:
    """`engine.loop.Service`: takes away what a start had to leave to a worker that was alive."""

    name = "leaving"

    def __init__(self, take_away: Callable[[], Awaitable[Synced]]) -> None:
        self.wake: Callable[[], None] = lambda: None
        self._take_away = take_away

    async def step(self) -> float:
        """Look again; where two programs are one app, that is all it ever does."""
        await self._take_away()
        return REST
