"""`memory://`: all data ends with the process. For tests, simulation and development."""

from __future__ import annotations

from collections.abc import Callable

from tickwell.clock import wall_millis
from tickwell.domain.promises import MEMORY
from tickwell.stores.composed import ComposedStore
from tickwell.stores.event_wait import rest
from tickwell.stores.memory.catalog import MemoryCatalog
from tickwell.stores.memory.claims import Claims
from tickwell.stores.memory.firing import MemoryFiring
from tickwell.stores.memory.flow import Flow
from tickwell.stores.memory.history import MemoryHistory
from tickwell.stores.memory.liveness import MemoryLiveness, MemoryRecords
from tickwell.stores.memory.pruning import MemoryPruning
from tickwell.stores.memory.queue import MemoryQueue
from tickwell.stores.memory.reports import MemoryReports
from tickwell.stores.memory.steps import MemorySteps
from tickwell.stores.memory.tables import Tables
from tickwell.stores.memory.transfer import MemoryTransfer


class MemoryStore(ComposedStore):
    """The executable specification: plain data, and one method per operation."""

    name = "memory://"
    promises = MEMORY

    def __init__(self, wall: Callable[[], int] = wall_millis, flow: Flow | None = None) -> None:
        self.flow = flow or Flow(Tables())
        self.tables = self.flow.tables
        self.claims = Claims(self.tables)
        self.firing = MemoryFiring(self.flow, self.claims)
        self.queue = MemoryQueue(self.flow, self.claims)
        self.reports = MemoryReports(self.flow)
        self.liveness = MemoryLiveness(self.flow, self.claims)
        self.catalog = MemoryCatalog(self.flow)
        self.history = MemoryHistory(self.flow)
        self.steps = MemorySteps(self.flow)
        self.records = MemoryRecords(self.tables)
        self.transfer = MemoryTransfer(self.flow)
        self.pruning = MemoryPruning(self.tables)
        self._wall = wall

    async def open(self) -> None:
        """Nothing to connect to."""

    async def close(self) -> None:
        """The data stays until the object goes."""

    async def ping(self) -> int:
        return self._wall()

    async def changed(self, seconds: float) -> bool:
        """No other process can write here: wait, and say that nothing changed."""
        await rest(seconds)
        return False

    async def prune(self, now: int, limit: int) -> int:
        return await self.pruning.prune(now, limit)
