"""The chain of one project: entries that come together are written together."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence

from tickwell.ports.store import RecordStore
from tickwell.services.audit.block import (
    KIND,
    MOST,
    Block,
    key_of,
    next_block,
    read_block,
)
from tickwell.services.audit.checkpoint import KEY, Checkpoint, read_checkpoint
from tickwell.services.audit.checkpoint import KIND as CHECKPOINT
from tickwell.services.audit.entry import Entry
from tickwell.services.keyring import Keyring
from tickwell.services.time import Time

#: Hundreds of blocks that one pruning looks at: the rest goes the next time.
_HUNDREDS = 20


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
                # The writer before may have included it.
                while entry.id in self._pending:
                    # Those that were answered together with this one note it in the same turn.
                    await asyncio.sleep(0)  # noqa: TID251 - no time passes
                    await self._write([*self._pending.values()][:MOST])
        finally:
            self._pending.pop(entry.id, None)

    async def _write(self, entries: Sequence[Entry]) -> None:
        last = self.last or await self.find_last() or (await self.start())[0]
        block = next_block(self._keyring, self.project, last, entries)
        if not await self._store.put_record(block.record(self.project), self._clock.now(), 0):
            # Somebody else's, or our own, whose reply was lost.
            block = await self.read(block.number) or block
            self.last = block
            self.last = await self.find_last()
        elif block.number <= (await self.start())[0].number:
            # In the place of one that retention took away after this process had last looked:
            # nothing would ever read it. What it holds is still pending and written again.
            await self._store.delete_record(KIND, self.project, key_of(block.number))
            self.last = await self.find_last()
            return
        else:
            self.last = block
        for document in block.entries:
            self._pending.pop(document["id"], None)

    async def find_last(self) -> Block | None:
        """The newest block; found again when retention took blocks away during the search."""
        start, _ = await self.start()
        while True:
            found = await self._search(start)
            before, (start, _) = start, await self.start()
            if start.number == before.number:
                return found

    async def _search(self, start: Checkpoint) -> Block | None:
        """The newest block: numbers have no gap, so doubling and halving finds it."""
        known, step = self.last, 1
        if known and known.number < start.number:
            known = None
        low = known.number if known else start.number
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

    async def start(self) -> tuple[Checkpoint, str | None]:
        """What the oldest block follows, and what is wrong with that."""
        found = await self._store.get_record(CHECKPOINT, self.project, KEY, self._clock.now())
        if found is None:
            return Checkpoint(), None
        checkpoint = read_checkpoint(found)
        return checkpoint, checkpoint.problem(self._keyring, self.project, found)

    async def prune(self, since: int) -> int:
        """Take the blocks away whose entries are all older; how many entries those are.

        The checkpoint first: should this process die here, what is left over goes the next time.
        The newest block stays, so that the chain never looks as if it were empty.
        """
        start, problem = await self.start()
        newest = self.last or await self.find_last()
        if problem is not None or newest is None:
            return 0  # `verify` names the problem; nothing is lost for it
        last = start
        async for block in self._oldest(start.number):
            if block.number >= newest.number or not _is_older(block, since):
                break
            last = Checkpoint(
                number=block.number, hash=block.hash, entries=last.entries + len(block.entries)
            )
        if last.number > start.number:
            record = last.record(self._keyring, self.project)
            if not await self._store.put_record(record, self._clock.now(), start.version):
                return 0  # another process prunes
        await self._delete(last.number)
        return last.entries - start.entries

    async def _oldest(self, number: int) -> AsyncIterator[Block]:
        """The first blocks after a number, no more than one call should read."""
        for hundred in range(_HUNDREDS):
            for block in await self.read_hundred(number + 1 + 100 * hundred):
                if block.number > number:
                    yield block

    async def _delete(self, through: int) -> None:
        now = self._clock.now()
        while True:
            records = await self._store.list_records(KIND, self.project, "", now, 100)
            gone = [record.key for record in records if int(record.key) <= through]
            for key in gone:
                await self._store.delete_record(KIND, self.project, key)
            if len(gone) < 100:
                return

    async def read(self, number: int) -> Block | None:
        """One block."""
        found = await self._store.get_record(KIND, self.project, key_of(number), self._clock.now())
        return None if found is None else read_block(found)

    async def read_hundred(self, number: int) -> list[Block]:
        """The blocks whose numbers begin as this one's, but for the last two digits, by number."""
        prefix = key_of(number)[:-2]
        records = await self._store.list_records(KIND, self.project, prefix, self._clock.now(), 100)
        return [read_block(record) for record in records]


def _is_older(block: Block, since: int) -> bool:
    return all(entry["at"] < since for entry in block.entries)
