"""The watcher: turns the notifier's hints into wake-ups."""

from __future__ import annotations

from collections.abc import Callable

from tickwell.ports.notifier import Notifier
from tickwell.settings import Settings


class Watcher:
    """Waits for writes of other processes, so that loops need not poll."""

    name = "watcher"

    def __init__(self, notifier: Notifier, settings: Settings, wake: Callable[[], None]) -> None:
        self.notifier = notifier
        self.settings = settings
        self.wake = wake

    async def step(self) -> float:
        """Wait, and wake the others when something changed."""
        if await self.notifier.changed(self.settings.poll):
            self.wake()
        return 0.0
