"""The audit log of every project: append, list, verify."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from tickwell.errors import InvalidInput
from tickwell.ids import Random, new_id
from tickwell.ports.records import Page
from tickwell.ports.store import RecordStore
from tickwell.services.access.actor import Actor, Permission, needs
from tickwell.services.audit.block import Block, problem_of
from tickwell.services.audit.chain import Chain
from tickwell.services.audit.checkpoint import Checkpoint
from tickwell.services.audit.entry import Entry, entry_of
from tickwell.services.keyring import Keyring
from tickwell.services.projects.platform import PLATFORM
from tickwell.services.time import Time

#: Entries among which those about one thing are looked for.
SEARCHED = 2_000
#: Milliseconds between two looks for what retention takes away.
PRUNE_EVERY = 3_600_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Verified:
    """What a look at a whole chain found."""

    entries: int
    #: Entries that retention has taken away; a sealed checkpoint stands for them.
    pruned: int = 0
    #: The hash of the newest block: kept elsewhere, it shows later that none was cut off.
    head: str | None
    #: What is wrong, at the first place where something is; None: nothing.
    problem: str | None = None


class Audit:
    """Says who did what. Entries are never changed, and go by retention only."""

    def __init__(
        self,
        store: RecordStore,
        clock: Time,
        random: Random,
        keyring: Keyring,
        *,
        keep: float = 0,
    ) -> None:
        self._store = store
        self._clock = clock
        self._random = random
        self._keyring = keyring
        #: Milliseconds that entries are kept; 0: for ever.
        self._keep = int(keep * 1000)
        #: When each project's chain was last pruned by this process.
        self._pruned: dict[str, int] = {}
        self._chains: dict[str, Chain] = {}

    async def record(
        self,
        actor: Actor,
        action: str,
        subject: str,
        before: Any = None,
        after: Any = None,
        *,
        project: str | None = None,
    ) -> None:
        """Put a change on record, in the actor's project unless another is named."""
        now = self._clock.now()
        id = new_id(now, self._random)
        entry = entry_of(actor, action, subject, before, after, id=id, at=now)
        chain = self._chain(project or actor.project)
        await chain.append(entry)
        await self._prune(chain, now)

    async def _prune(self, chain: Chain, now: int) -> None:
        """Now and then, with an addition: a log without additions does not grow."""
        if not self._keep or now - self._pruned.get(chain.project, 0) < PRUNE_EVERY:
            return
        self._pruned[chain.project] = now
        await chain.prune(now - self._keep)

    @needs(Permission.ADMINISTER)
    async def list(self, actor: Actor, cursor: str | None = None, limit: int = 100) -> Page[Entry]:
        """Entries of the actor's project, newest first."""
        return await self._list(actor.project, cursor, limit)

    @needs(Permission.PLATFORM)
    async def list_platform(
        self, actor: Actor, cursor: str | None = None, limit: int = 100
    ) -> Page[Entry]:
        """Entries about users, projects, queues and sessions, newest first."""
        return await self._list(PLATFORM, cursor, limit)

    async def _list(self, project: str, cursor: str | None, limit: int) -> Page[Entry]:
        chain = self._chain(project)
        number, skip = _read_cursor(cursor)
        if number is None:
            last = await chain.find_last()
            number = last.number if last else 0
        oldest = (await chain.start())[0].number
        found: list[Entry] = []
        while number > oldest:
            for block in reversed(await chain.read_hundred(number)):
                if not oldest < block.number <= number:
                    continue
                entries = [Entry(**each) for each in reversed(block.entries)][skip:]
                room = limit - len(found)
                found += entries[:room]
                if len(entries) > room:
                    return Page(items=found, cursor=f"{block.number}.{skip + room}")
                skip = 0
            number = number // 100 * 100 - 1
        return Page(items=found)

    @needs(Permission.ADMINISTER)
    async def about(self, actor: Actor, subject: str, limit: int = 50) -> Sequence[Entry]:
        """The newest entries about one thing, as far as they are among the newest of all."""
        newest = await self.list(actor, None, SEARCHED)
        return [entry for entry in newest.items if entry.subject == subject][:limit]

    @needs(Permission.ADMINISTER)
    async def verify(self, actor: Actor) -> Verified:
        """Look at every block of the project's chain."""
        return await self._verify(actor.project)

    @needs(Permission.PLATFORM)
    async def verify_platform(self, actor: Actor) -> Verified:
        """Look at every block of the platform's own chain."""
        return await self._verify(PLATFORM)

    async def _verify(self, project: str) -> Verified:
        chain = self._chain(project)
        start, problem = await chain.start()
        last: Checkpoint | Block = start
        found = Verified(entries=0, pruned=start.entries, head=_head(last), problem=problem)
        number = start.number + 1
        while found.problem is None and (blocks := await chain.read_hundred(number)):
            for block in blocks:
                if block.number <= start.number:
                    continue  # retention was interrupted before it took this one away
                problem = problem_of(self._keyring, project, last, block)
                if problem:
                    return replace(found, problem=problem)
                last = block
                entries = found.entries + len(block.entries)
                found = replace(found, entries=entries, head=_head(last))
            number = number // 100 * 100 + 100
        seen = chain.last
        if found.problem is None and seen is not None and last.number < seen.number:
            return replace(found, problem=f"block {seen.number} was there and is gone")
        return found

    def _chain(self, project: str) -> Chain:
        chain = self._chains.get(project)
        if chain is None:
            chain = Chain(self._store, self._clock, self._keyring, project)
            self._chains[project] = chain
        return chain


def _head(link: Checkpoint | Block) -> str | None:
    return link.hash if link.number else None


def _read_cursor(cursor: str | None) -> tuple[int | None, int]:
    if cursor is None:
        return None, 0
    number, _, skip = cursor.partition(".")
    if not (number.isdecimal() and skip.isdecimal() and cursor.isascii() and len(cursor) < 20):
        raise InvalidInput(
            "is not a cursor of this list",
            field="cursor",
            hint="Leave it out to start from the first page",
        )
    return int(number), int(skip)
