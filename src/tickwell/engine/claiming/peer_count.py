"""Counts the workers that claim from the same queues, which divide every burst between them."""

from __future__ import annotations

from collections.abc import Collection

from tickwell.clock import Clock
from tickwell.domain.worker import Liveness
from tickwell.engine.claiming.lane import Lane
from tickwell.ports.store import Store

#: Seconds between two looks of a worker that claims ahead.
LOOK = 1.0


class PeerCount:
    """Counts the workers at each look of the reaper, and before a burst is claimed ahead."""

    def __init__(
        self, store: Store, clock: Clock, queues: Collection[str], lanes: Collection[Lane]
    ) -> None:
        self.store = store
        self.clock = clock
        self.queues = frozenset(queues)
        self.lanes = lanes
        self._looked_at = float("-inf")

    def learn(self, workers: list[Liveness]) -> None:
        """Count those that claim from a queue of ours, this worker among them."""
        near = [one for one in workers if not self.queues.isdisjoint(one.worker.queues)]
        count = sum(not one.lost for one in near)
        for lane in self.lanes:
            lane.company = max(count, 1)
        self._looked_at = self.clock.monotonic()

    async def look(self) -> None:
        """Count again before more is claimed than there is capacity.

        A worker that began since the reaper's last look would get nothing of a burst: a
        worker that believes to be alone claims 10,000 ahead.
        """
        if self.clock.monotonic() - self._looked_at < LOOK:
            return
        if any(lane.in_hand >= lane.capacity > 0 for lane in self.lanes):
            self.learn(await self.store.list_workers())
