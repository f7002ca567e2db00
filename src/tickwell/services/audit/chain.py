"""The chain of one project: entries that come together are written together."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from tickwell.ports.store import RecordStore
from tickwell.services.audit.block import (
    KIND,
    MOST,
    Block,
    key_of,
    next_block,
    read_block,
)
from tickwell.services.audit.entry import Entry
from tickwell.services.keyring import Keyring
from tickwell.services.time import Time


class Chain:
    """Appends blocks. Two processes never write the same number: the store refuses the second."""

    def __init__(self, store: RecordStore, clock: Time, keyring: Keyring, project: str) -> None:
        self.project = project
        #: The newest block that this process has seen.
        self.last: Block | None = None
        self._store = store
        self._clock = clock
        self._keyring = keyring
        self._pending: dict[str, Entry] = {}
        self._lock = asyncio.Lock()

    async def append(self, entry: Entry) -> None:
        """Returns when the entry is on record."""
        self._pending[entry.id] = entry
        try:
            async with self._lock:
                # Whoever came before may have taken it along.
                while entry.id in self._pending:
                    # Those that were answered together with this one note it in the same turn.
                    await asyncio.sleep(0)  # noqa: TID251 - no time passes
                    await self._write([*self._pending.values()][:MOST])
        finally:
            self._pending.pop(entry.id, None)

    async def _write(self, entries: Sequence[Entry]) -> None:
        last = self.last or await self.find_last()
        block = next_block(self._keyring, self.project, last, entries)
        if not await self._store.put_record(block.record(self.project), self._clock.now(), 0):
            # Somebody else's, or our own, whose reply was lost.
            block = await self.read(block.number) or block
            self.last = block
            self.last = await self.find_last()
        else:
            self.last = block
        for document in block.entries:
            self._pending.pop(document["id"], None)

    async def find_last(self) -> Block | None:
        """The newest block: numbers have no gap, so doubling and halving finds it."""
        known, step = self.last, 1
        low = known.number if known else 0
        while found := await self.read(low + step):
            known, low, step = found, found.number, step * 2
        high = low + step  # is not there
        while high - low > 1:
            middle = (low + high) // 2
            found = await self.read(middle)
            if found is None:
                high = middle
            else:
                known, low = found, middle
        return known

    async def read(self, number: int) -> Block | None:
        """One block."""
        found = await self._store.get_record(KIND, self.project, key_of(number), self._clock.now())
        return None if found is None else read_block(found)

    async def read_hundred(self, number: int) -> list[Block]:
        """The blocks whose numbers begin as this one's, but for the last two digits, by number."""
        prefix = key_of(number)[:-2]
        records = await self._store.list_records(KIND, self.project, prefix, self._clock.now(), 100)
        return [read_block(record) for record in records]
