"""Counts of requests that API processes tell each other, so that a limit is one for all of them.

Once a second at most, and only of whoever has used more than a tenth of a limit: most never come
near one, and cost no write. Each process has a record for each minute, which only grows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from math import inf

from tickwell.errors import StoreError
from tickwell.ids import Random, new_id
from tickwell.ports.records import Record
from tickwell.ports.store import RecordStore
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.time import Time

KIND = "requests"
#: Milliseconds between two exchanges, that one record grows, and that it is kept.
EVERY, GROWS, KEPT = 1_000, 60_000, 15 * 60_000
#: Milliseconds that a record of the minute before may still be written in.
LATE = 5_000
#: Of how many a record tells: those with the most; and records that are read.
MOST, MOST_RECORDS = 500, 10_000

#: Whose limit, who, how many requests they made elsewhere, and at which instant.
Spend = Callable[[str, str, int, int], None]


class Sharing:
    """Tells others what was counted here, and hears what they counted."""

    def __init__(self, store: RecordStore, clock: Time, random: Random, spend: Spend) -> None:
        self._store = store
        self._clock = clock
        self._spend = spend
        self._id = new_id(clock.now(), random)
        self._due = 0.0
        #: Counted since others were told, and until when.
        self._new: Counter[str] = Counter()
        self._noted_at = 0
        #: What the record of a minute says, and which minute.
        self._told: Counter[str] = Counter()
        self._minute = 0
        #: What was heard of each record, and as of when.
        self._heard: dict[str, dict[str, int]] = {}
        self._heard_at = 0

    def note(self, name: str, key: str) -> None:
        """One request that others should know of."""
        self._new[f"{name} {key}"] += 1
        self._noted_at = self._clock.now()

    @property
    def is_due(self) -> bool:
        """Whether it is time to exchange."""
        return self._clock.now() >= self._due

    async def exchange(self) -> None:
        """Tell and hear. While the store is away each process counts for itself."""
        now, self._due = self._clock.now(), inf  # one at a time, however slow the store is
        try:
            with suppress(StoreError):
                await self._tell(now)
                await self._hear(now)
        finally:
            self._due = self._clock.now() + EVERY

    async def _tell(self, now: int) -> None:
        if not self._new:
            return
        if now // GROWS != self._minute:
            self._minute = now // GROWS
            self._told.clear()
        # Told with the next ones of this minute should the store be away, and else never: what is
        # told late would be held against who asks then.
        self._told.update(self._new)
        self._new.clear()
        record = Record(
            kind=KIND,
            project=PLATFORM,
            key=f"{self._minute}:{self._id}",
            document={"at": self._noted_at, "counts": dict(self._told.most_common(MOST))},
            expires_at=now + KEPT,
        )
        await self._store.put_record(record, now)

    async def _hear(self, now: int) -> None:
        minute = now // GROWS
        of_this_minute = (self._heard_at - LATE) // GROWS == minute
        prefix = f"{minute}:" if of_this_minute else ""
        records = await self._store.list_records(KIND, PLATFORM, prefix, now, MOST_RECORDS)
        others = [each for each in records if not each.key.endswith(self._id)]
        heard = {}
        for record in sorted(others, key=lambda each: each.document["at"]):
            before, counts = self._heard.get(record.key, {}), record.document["counts"]
            for whose, count in counts.items():
                if count > before.get(whose, 0):
                    name, _, key = whose.partition(" ")
                    self._spend(name, key, count - before.get(whose, 0), record.document["at"])
            # Who is not among the most any more may be again.
            heard[record.key] = before | counts
        self._heard = self._heard | heard if of_this_minute else heard
        self._heard_at = now
