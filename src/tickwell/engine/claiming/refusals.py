"""The jobs that this worker leaves to others, since it may not run them."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from tickwell.clock import Clock
from tickwell.domain.job import Job
from tickwell.domain.worker import Refusal
from tickwell.ports.store import CatalogStore

#: Seconds after which it is looked at again whether this worker may run a job by now: a name has
#: another address, a key was added, or the job was edited.
LOOK = 30.0
#: Jobs of one look: names are looked up for them, which takes a while.
AT_ONCE = 20
#: Jobs that are noted. They are written with every beat, and left out of every claim.
MOST = 1000
#: Rests until woken: nothing is noted.
UNTIL_WOKEN = 7 * 86_400.0


@dataclass(slots=True)
class _Noted:
    job: Job
    why: str
    looked_at: float


class Refusals:
    """Notes what was refused, and forgets it when it may be run here."""

    name = "refusals"

    def __init__(
        self, store: CatalogStore, clock: Clock, refusal: Callable[[Job], Awaitable[str]]
    ) -> None:
        self.store = store
        self.clock = clock
        #: Why this process may not run a job; empty: it may.
        self.refusal = refusal
        self.wake: Callable[[], None] = lambda: None
        #: Called when there are more or fewer: other processes are to learn of it soon.
        self.on_change: Callable[[], None] = lambda: None
        #: By the job's id, the one that was looked at longest ago first.
        self._noted: dict[str, _Noted] = {}

    def add(self, job: Job, why: str) -> None:
        """This worker may not run the job; the oldest makes room for it."""
        known = self._noted.pop(job.id, None)
        if known is None and len(self._noted) >= MOST:
            del self._noted[next(iter(self._noted))]
        self._noted[job.id] = _Noted(job, why, self.clock.monotonic())
        if known is None or (known.job.version, known.why) != (job.version, why):
            self.on_change()
        if known is None:
            self.wake()

    @property
    def left_out(self) -> tuple[str, ...]:
        """The ids that a claim leaves out."""
        return tuple(self._noted)

    def announced(self) -> tuple[Refusal, ...]:
        """What others learn of it; asked by the thread of the pulse, too."""
        noted = list(self._noted.values())
        return tuple(Refusal(each.job.id, each.job.version, each.why) for each in noted)

    async def step(self) -> float:
        """Look at some of them again; say how long to rest."""
        some = [each for _, each in zip(range(AT_ONCE), self._noted.values(), strict=False)]
        if not some:
            return UNTIL_WOKEN
        young = some[0].looked_at + LOOK - self.clock.monotonic()
        if young > 0:
            return young
        await asyncio.gather(*map(self._look, some))
        return 0.0 if self._noted else UNTIL_WOKEN

    async def _look(self, noted: _Noted) -> None:
        job = noted.job
        found = await self.store.get_jobs(job.project, [job.id])
        why = await self.refusal(found[0].job) if found else ""
        if self._noted.get(job.id) is not noted:
            return  # refused again meanwhile
        if why:
            self.add(found[0].job, why)
        else:
            del self._noted[job.id]
            self.on_change()
