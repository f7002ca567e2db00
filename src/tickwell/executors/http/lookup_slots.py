"""How many names are looked up at once: by one project, and by all together."""

from __future__ import annotations

import asyncio
from collections import Counter, deque


class LookupSlots:
    """Counts threads by project. A project that has none may always start one."""

    def __init__(self, per_project: int, total: int) -> None:
        self._per_project = per_project
        self._total = total
        self._busy: Counter[str] = Counter()
        self._all = 0
        self._waiting: dict[str, deque[asyncio.Future[None]]] = {}

    async def enter(self, project: str) -> None:
        """Take a slot; those of one project wait in order of arrival."""
        if project not in self._waiting and self._is_free(project):
            self._take(project)
            return
        slot: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(project, deque()).append(slot)
        try:
            await slot
        except asyncio.CancelledError:
            if not slot.cancelled():
                self.leave(project)  # it was granted just now: the next one's, then
            raise

    def leave(self, project: str) -> None:
        """Return a slot to the next that may have it; projects take turns."""
        self._busy[project] -= 1
        self._all -= 1
        if not self._busy[project]:
            del self._busy[project]
        for waiting in list(self._waiting):
            line = self._waiting[waiting]
            while line and line[0].cancelled():
                line.popleft()
            if line and not self._is_free(waiting):
                continue
            del self._waiting[waiting]
            if line:
                slot = line.popleft()
                if line:
                    self._waiting[waiting] = line
                self._take(waiting)
                slot.set_result(None)
                return

    def _is_free(self, project: str) -> bool:
        busy = self._busy[project]
        return not busy or (busy < self._per_project and self._all < self._total)

    def _take(self, project: str) -> None:
        self._busy[project] += 1
        self._all += 1
