"""What all simulated processes share: time, chance, the store, and the record of what happened."""

from __future__ import annotations

import asyncio
import inspect
from collections import deque
from collections.abc import Coroutine
from contextvars import Context
from hashlib import blake2b
from random import Random
from typing import Any

from tickwell.stores.memory import MemoryStore
from tickwell.testing.simulation.loop import SimLoop
from tickwell.testing.simulation.scenario import Scenario

#: 21 June 2026, 00:00 UTC, when every simulation begins.
START = 1_782_000_000_000
#: Lines of the trace that a violation shows.
TOLD = 60


class Violation(AssertionError):
    """A promise was broken."""


class World:
    """One simulated run."""

    def __init__(self, scenario: Scenario, loop: SimLoop) -> None:
        self.scenario = scenario
        self.loop = loop
        self.store = MemoryStore(self.store_time)
        #: By how many milliseconds the store's clock was set.
        self.offset = 0
        self.highest_offset = 0
        self._highest_time = 0
        self._offsets = [0]
        #: The store does not answer until this virtual instant.
        self.outage_until = 0.0
        #: The factor by which calls take longer.
        self.slowness = 1.0
        #: Faults have ended; handlers are quick.
        self.calm = False
        #: Jobs whose project a person has paused, and what was running when that was confirmed.
        self.paused_jobs: frozenset[str] = frozenset()
        self.running_then: frozenset[tuple[str, int]] = frozenset()
        self.failed: asyncio.Future[None] = loop.create_future()
        self.events = 0
        self._trace = blake2b(digest_size=16)
        self._recent: deque[str] = deque(maxlen=TOLD)
        self._neutral = Context()
        self._tasks: dict[asyncio.Task[Any], None] = {}

    def random(self, purpose: str) -> Random:
        """A generator of its own for each purpose, so that one does not disturb another."""
        return Random(f"{self.scenario.seed}:{purpose}")

    def store_time(self) -> int:
        """What the store's clock says."""
        return START + int(round(self.loop.time() * 1000, 3)) + self.offset

    def jump(self, milliseconds: int) -> None:
        """Set the store's clock."""
        self._highest_time = self.highest_time()
        self.offset += milliseconds
        self._offsets.append(self.offset)
        self.highest_offset = max(self.highest_offset, self.offset)

    def highest_time(self) -> int:
        """The latest that the store's clock ever said."""
        return max(self._highest_time, self.store_time())

    def offset_of(self, store_time: int) -> int:
        """How the clock was set when it said so, a moment ago: it may have been set since."""
        implied = store_time - self.store_time() + self.offset
        return min(self._offsets, key=lambda offset: abs(offset - implied))

    def note(self, who: str, what: str) -> None:
        """Something happened: same seed, same notes at the same instants."""
        line = f"{self.loop.time():.6f} {who} {what}"
        self.events += 1
        self._trace.update(line.encode())
        self._recent.append(line)

    @property
    def trace(self) -> str:
        """A hash of all that happened."""
        return self._trace.hexdigest()

    def fail(self, why: str) -> Violation:
        """A promise was broken: the run ends here."""
        told = "\n  ".join(self._recent)
        violation = Violation(f"seed {self.scenario.seed}: {why}\n  {told}")
        if not self.failed.done():
            self.failed.set_exception(violation)
        return violation

    def spawn(self, work: Coroutine[Any, Any, Any], context: Context | None = None) -> None:
        """Run something that belongs to no process, or to the one of the context."""
        task = self.loop.create_task(work, context=context or self._neutral)
        self._tasks[task] = None  # kept, dead or alive: collecting one would run its `finally`
        task.add_done_callback(self._ended, context=self._neutral)

    def _ended(self, task: asyncio.Task[Any]) -> None:
        del self._tasks[task]
        if not task.cancelled() and task.exception() is not None and not self.failed.done():
            self.failed.set_exception(task.exception() or Violation())

    def close(self) -> None:
        """The end of the world: what is left of its tasks is dropped in silence."""
        if self.failed.done() and not self.failed.cancelled():
            self.failed.exception()
        for task in asyncio.all_tasks(self.loop):
            task._log_destroy_pending = False  # type: ignore[attr-defined]  # noqa: SLF001
            work = task.get_coro()
            if inspect.iscoroutine(work) and inspect.getcoroutinestate(work) == "CORO_CREATED":
                work.close()  # its process was killed before it began
        self.loop.close()

    async def sleep(self, seconds: float) -> None:
        """Let virtual time pass."""
        await asyncio.sleep(seconds)  # noqa: TID251 - it is virtual
