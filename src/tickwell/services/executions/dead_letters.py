"""Dead letters: executions in state `dead`, grouped by what went wrong, revived and purged."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from math import inf
from typing import Protocol

from tickwell.domain.execution import Execution, State
from tickwell.log.headline import headline
from tickwell.log.text import spelled
from tickwell.ports.records import ExecutionFilter, Page
from tickwell.ports.store import HistoryStore, RecordStore
from tickwell.services.slots.retention_edge import note
from tickwell.services.time import Time

#: Executions that one call to the store reads, and revives.
_PAGE = 500
#: Dead letters that are read to be grouped: a project may have millions, and people wait for it.
NEWEST = 1000
#: Characters of a signature.
_LONGEST = 160
_HTTP = re.compile(r"HTTP [0-9]{3}\b")
_IDS = re.compile(r"\b[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b|\b[0-9a-fA-F]{16,}\b")
_DIGITS = re.compile(r"[0-9]+(?:[.,:][0-9]+)*")
#: Makes dead letters run again; answers the ids of those that will.
Revive = Callable[[Sequence[Execution]], Awaitable[Sequence[str]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeadFilter:
    """Which dead letters; none given: all of the project."""

    job_id: str | None = None
    queue: str | None = None
    #: Fire times from, inclusive, and to, exclusive.
    since: int | None = None
    until: int | None = None
    #: What went wrong, as `signature` has it.
    signature: str | None = None
    #: A part of that, or of the error with its ids and numbers; capitals or not.
    search: str | None = None

    def matches(self, execution: Execution) -> bool:
        """Whether it died of what is asked for; the store looks at the rest."""
        if self.signature is None and self.search is None:
            return True
        found = signature(execution)
        if self.signature not in {None, found}:
            return False
        wanted, line = (self.search or "").casefold(), headline(execution.error or "")
        return wanted in found.casefold() or wanted in line.casefold()


@dataclass(slots=True, kw_only=True)
class Group:
    """Dead letters that died of the same."""

    signature: str
    count: int
    newest: Execution
    #: Of how many jobs.
    jobs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Groups:
    """The largest first."""

    items: list[Group]
    #: How many dead letters were read, the newest ones.
    looked_at: int
    #: Older ones are not counted.
    more: bool


def signature(execution: Execution) -> str:
    """What went wrong without what differs from run to run: ids and numbers.

    A status code and the kind of an exception stay.
    """
    line = headline(execution.error or execution.reason or "") or "died without an error message"
    status = _HTTP.match(line)
    head, rest = (status[0], line[status.end() :]) if status else ("", line)
    return spelled(head + _DIGITS.sub("N", _IDS.sub("ID", rest)))[:_LONGEST]


class DeadStore(HistoryStore, RecordStore, Protocol):
    """What dead letters are read from."""


class DeadLetters:
    """Reads, revives and purges them. Where `rest` is taken: it waits for so many seconds."""

    def __init__(self, store: DeadStore, clock: Time, wake: Callable[[], None]) -> None:
        self.store = store
        self.clock = clock
        self.wake = wake

    async def matching(
        self, project: str, where: DeadFilter, page: int = _PAGE
    ) -> AsyncIterator[list[Execution]]:
        """All that match, newest first, a page at a time; reviving them on the way is safe."""
        async for found in self._pages(project, where, page):
            yield [each for each in found.items if where.matches(each)]

    async def _pages(
        self, project: str, where: DeadFilter, page: int = _PAGE
    ) -> AsyncIterator[Page[Execution]]:
        """What the store finds, whatever it died of."""
        scope = ExecutionFilter(
            project=project,
            job_id=where.job_id,
            queue=where.queue,
            since=where.since,
            until=where.until,
            states=frozenset({State.DEAD}),
        )
        cursor = None
        while True:
            found = await self.store.list_executions(scope, cursor, page)
            yield found
            cursor = found.cursor
            if cursor is None:
                return

    async def count(self, project: str, where: DeadFilter, limit: float = inf) -> int:
        """How many match; a few more than the limit where the last page has more."""
        total = 0
        async for page in self.matching(project, where):
            if total >= limit:
                break
            total += len(page)
        return total

    async def groups(
        self, project: str, where: DeadFilter | None = None, newest: int = NEWEST
    ) -> Groups:
        """Those that match, by what went wrong; of so many newest."""
        chosen = where or DeadFilter()
        found: dict[str, Group] = {}
        jobs: dict[str, set[str]] = {}
        looked_at, more = 0, False
        async for page in self._pages(project, chosen, min(_PAGE, newest)):
            for each in filter(chosen.matches, page.items):
                name = signature(each)
                group = found.setdefault(name, Group(signature=name, count=0, newest=each, jobs=0))
                group.count += 1
                jobs.setdefault(name, set()).add(each.job_id)
            looked_at += len(page.items)
            more = page.cursor is not None
            if looked_at >= newest:
                break
        ordered = sorted(found.values(), key=lambda group: (-group.count, group.signature))
        items = [replace(group, jobs=len(jobs[group.signature])) for group in ordered]
        return Groups(items=items, looked_at=looked_at, more=more)

    async def revive_matching(
        self,
        project: str,
        where: DeadFilter,
        *,
        revive: Revive | None = None,
        rate: float | None = None,
        rest: Callable[[float], Awaitable[object]] | None = None,
        progress: Callable[[int], None] = lambda _: None,
    ) -> int:
        """Revive all that match, at most `rate` a second; answer how many.

        Each dies or lives under its own id again, unless `revive` does something else with them;
        one that dies anew meanwhile is not taken twice.
        """
        again = revive or partial(self._revive, project)
        total = 0
        size = _PAGE if rate is None else max(1, min(_PAGE, int(rate)))
        async for page in self.matching(project, where):
            for start in range(0, len(page), size):
                dead = page[start : start + size]
                if total and rate is not None and rest is not None:
                    await rest(len(dead) / rate)
                revived = len(await again(dead))
                self.wake()
                progress(revived)
                total += revived
        return total

    async def _revive(self, project: str, dead: Sequence[Execution]) -> Sequence[str]:
        return await self.store.revive(project, [each.id for each in dead], self.clock.now())

    async def purge_matching(self, project: str, where: DeadFilter, limit: int) -> tuple[int, bool]:
        """Delete those that match for good; how many, and whether more of them may be left.

        A few more than the limit where the last page has more.
        """
        total = 0
        async for page in self.matching(project, where):
            if page and total >= limit:
                return total, True
            if page:
                total += await self._purge(project, page)
        return total, False

    async def _purge(self, project: str, page: list[Execution]) -> int:
        now = self.clock.now()
        await note(self.store, page, now)  # first: one that is noted and still there counts
        return len(await self.store.purge(project, [each.id for each in page], now))
