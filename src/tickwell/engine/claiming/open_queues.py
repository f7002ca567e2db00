"""The queues that a worker takes from, without those that somebody paused."""

from __future__ import annotations

from tickwell.clock import Clock
from tickwell.domain.queue import PAUSE_KIND, PAUSE_PROJECT
from tickwell.ports.store import RecordStore

#: Seconds between two looks: a pause takes effect within as long.
LOOK = 1.0


class OpenQueues:
    """Looks at the pauses once a second at most, however often a worker claims."""

    def __init__(self, store: RecordStore, clock: Clock, names: tuple[str, ...]) -> None:
        self.store = store
        self.clock = clock
        self.names = names
        self.open = names
        self._looked_at = float("-inf")

    @property
    def rest(self) -> float:
        """Seconds after which it is worth looking again: nobody tells that a pause has ended."""
        return LOOK if self.open != self.names else float("inf")

    async def look(self) -> tuple[str, ...]:
        """Those that are not paused."""
        if self.clock.monotonic() - self._looked_at >= LOOK:
            now = self.clock.now()
            records = await self.store.list_records(PAUSE_KIND, PAUSE_PROJECT, "", now)
            paused = {record.key for record in records}
            self.open = tuple(name for name in self.names if name not in paused)
            self._looked_at = self.clock.monotonic()
        return self.open
