"""The depth sampler: records queue depth once a minute, whatever the number of processes."""

from __future__ import annotations

from collections import Counter
from typing import Protocol

from tickwell.clock import Clock
from tickwell.domain.depth import KEPT, KINDS, Depths, depth_key
from tickwell.domain.execution import DUE
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.domain.policy import MINUTE
from tickwell.domain.tally import HOURS, MINUTES
from tickwell.ids import spread
from tickwell.ports.records import ExecutionFilter, Record
from tickwell.ports.store import HistoryStore, RecordStore

#: Milliseconds within which all processes look for the sample of a new minute, each at its own
#: instant, so that most find it.
_WITHIN = 20_000
#: Writes of the hour's record that are tried while other processes write it.
_TRIES = 3


#: Due executions that are counted by job: 1,000 take the store some 20 ms, and that once a minute.
_LOOKED_AT = 1_000


class SamplerStore(HistoryStore, RecordStore, Protocol):
    """The part of a store that the sampler needs."""


class DepthSampler:
    """The process that looks first in a minute samples; a compare-and-set makes it the only one."""

    name = "depth_sampler"

    def __init__(
        self, store: SamplerStore, clock: Clock, owner: str, shortest_rest: float = 0.0
    ) -> None:
        self.store = store
        self.clock = clock
        #: Seconds; beyond a minute, as in the test kit, most minutes have no sample.
        self.shortest_rest = shortest_rest
        self._offset = spread(owner, _WITHIN)

    async def step(self) -> float:
        """Sample unless another process has; rest until this process's instant of next minute."""
        now = self.clock.now()
        start = now // MINUTE * MINUTE
        kind, key = KINDS[MINUTES], depth_key(MINUTES, start)
        if await self.store.get_record(kind, PLATFORM_PROJECT, key, now) is None:
            depths = await self._sample(now)
            record = Record(
                kind=kind,
                project=PLATFORM_PROJECT,
                key=key,
                document=depths.to_document(),
                expires_at=start + KEPT[MINUTES],
            )
            if await self.store.put_record(record, now, 0):
                await self._raise_hour(depths, now)
        return max(self.shortest_rest, (start + MINUTE + self._offset - now) / 1000)

    async def _sample(self, now: int) -> Depths:
        lengths = await self.store.queue_lengths(now)
        depths = Depths.counted((each.project, each.queue, each.backlog) for each in lengths)
        # By job no store counts them without a look at each.
        where = ExecutionFilter(states=DUE, due_before=now + 1, look=_LOOKED_AT)
        page = await self.store.list_executions(where, limit=_LOOKED_AT)
        counts = Counter(each.job_id for each in page.items)
        depths.note_jobs(counts, complete=page.cursor is None)
        return depths

    async def _raise_hour(self, depths: Depths, now: int) -> None:
        start = now // HOURS.length * HOURS.length
        kind, key = KINDS[HOURS], depth_key(HOURS, start)
        for _ in range(_TRIES):
            known = await self.store.get_record(kind, PLATFORM_PROJECT, key, now)
            highest = Depths.from_document(known.document) if known else Depths({})
            if not highest.raise_to(depths) and known:
                return
            record = Record(
                kind=kind,
                project=PLATFORM_PROJECT,
                key=key,
                document=highest.to_document(),
                expires_at=start + KEPT[HOURS],
            )
            if await self.store.put_record(record, now, known.version if known else 0):
                return
