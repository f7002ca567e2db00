"""A store that notes when reports were written."""

import asyncio
import time
from typing import Any

from tickwell.domain.execution import LIVE, State
from tickwell.domain.outcome import Report
from tickwell.ports.records import Finished
from tickwell.ports.store import Store

#: Seconds without a report after which it is asked whether all is done, or the engine is stuck.
QUIET = 0.5
STUCK = 30.0


class Watched:
    """Everything but `finish` goes straight to the store."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._moved = asyncio.Event()
        self.written = 0
        #: Claimed, and left to others unfinished.
        self.given_back = 0
        self.last = time.time()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def finish(self, reports: list[Report], now: int) -> Finished:
        finished = await self._store.finish(reports, now)
        refused = {id(report) for report in finished.refused}
        applied = [report for report in reports if id(report) not in refused]
        ended = sum(report.state is State.SUCCEEDED for report in applied)
        self.written += ended
        self.given_back += len(applied) - ended
        self.last = time.time()
        self._moved.set()
        return finished

    async def until(self, count: int) -> None:
        """Until so many are written; 0: until all have ended, since others take their share."""
        while self.written < count or not count:
            self._moved.clear()
            try:
                async with asyncio.timeout(STUCK if count else QUIET):
                    await self._moved.wait()
            except TimeoutError:
                if count or time.time() - self.last > STUCK or await self._is_over():
                    return

    async def _is_over(self) -> bool:
        """Whether nothing is left to do for anybody: a busy machine is slow, not done."""
        return not LIVE.intersection(state for state, n in (await self.stats()).items() if n)
