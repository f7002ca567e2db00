"""Quotas: what a project may have, and how much of it its jobs use."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass, fields
from math import inf
from typing import Any

from tickwell.domain.job import Job, JobState
from tickwell.errors import InvalidInput, LimitReached
from tickwell.ports.records import JobFilter
from tickwell.ports.store import CatalogStore
from tickwell.services.time import Time
from tickwell.services.ttl_cache import BRIEFLY


@dataclass(frozen=True, slots=True, kw_only=True)
class Quota:
    """Limits of one project; 0: none."""

    jobs: int = 0
    #: Fires that all its triggers together can have on their busiest day, and in a minute.
    fires_per_day: int = 0
    fires_per_minute: int = 0
    #: Requests in a minute, by all its keys and users together.
    requests_per_minute: int = 0
    #: Those of them that may change something: each can be an entry of the audit log.
    changes_per_minute: int = 0
    #: Runs that may be requested in a minute.
    runs_per_minute: int = 0
    #: Attempts under way at once, in all workers together; workers read it from the document.
    running: int = 0
    #: Bytes of a payload as JSON.
    payload: int = 0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if type(value) is not int or value < 0 or value > 2**53:
                raise InvalidInput(
                    "a whole number is needed", field=field.name, hint="0 is no limit"
                )


def quota_to_document(quota: Quota) -> dict[str, int]:
    """As it is stored and shown."""
    return asdict(quota)


def quota_from_document(document: dict[str, Any]) -> Quota:
    """The quota in a document; what it does not name is not limited."""
    return Quota(**document)


#: Names of all limits.
LIMITS = tuple(field.name for field in fields(Quota))


_PAGE = 500


@dataclass(frozen=True, slots=True)
class Usage:
    """Jobs, and the fires that they can have on their busiest day and in their busiest minute."""

    jobs: int = 0
    per_day: int = 0
    per_minute: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.jobs + other.jobs,
            self.per_day + other.per_day,
            self.per_minute + other.per_minute,
        )

    def __sub__(self, other: Usage) -> Usage:
        return self + Usage(-other.jobs, -other.per_day, -other.per_minute)


def usage_of(jobs: Iterable[Job]) -> Usage:
    """What jobs add up to."""
    return sum((Usage(1, *job.trigger.busiest()) for job in jobs), start=Usage())


async def count(store: CatalogStore, project: str, most: int) -> Usage:
    """The usage of a project; counting ends where it has more jobs than `most`, if not 0."""
    where = JobFilter(project=project, states=frozenset({JobState.ACTIVE, JobState.PAUSED}))
    usage, cursor = Usage(), None
    while True:
        page = await store.list_jobs(where, cursor, _PAGE)
        usage += usage_of(entry.job for entry in page.items)
        cursor = page.cursor
        if cursor is None or (most and usage.jobs > most):
            return usage


#: A count is used for so many times as long as it took: a large project is not always counted.
_WORTH = 10


Count = Callable[[], Awaitable[Usage]]
#: Raises `LimitReached` where there would be too much.
Check = Callable[[Usage], None]


class Tally:
    """Lets in what fits; those who ask at once do so one after the other."""

    def __init__(self, clock: Time) -> None:
        self._clock = clock
        self._usage = Usage()
        self._counted_at = -inf
        #: Milliseconds that the count is used for.
        self._life = BRIEFLY
        #: Whether anything was let in since it was counted.
        self._added = False
        self._turn = asyncio.Lock()
        self._under_way = 0
        self._still = asyncio.Event()
        self._still.set()

    @asynccontextmanager
    async def adding(self, more: Usage, count: Count, check: Check) -> AsyncIterator[None]:
        """While it is held, so much is added to the store."""
        async with self._turn:
            await self._take(more, count, check)
            self._under_way += 1
            self._still.clear()
        try:
            yield
        except BaseException:
            self._usage -= more
            raise
        finally:
            self._under_way -= 1
            if not self._under_way:
                self._still.set()

    async def _take(self, more: Usage, count: Count, check: Check) -> None:
        if self._age >= self._life:
            await self._count(count)
        try:
            check(self._usage + more)
        except LimitReached:
            if self._age < BRIEFLY and not self._added:
                raise
            # What was there, or was let in, may be gone again.
            await self._count(count)
            check(self._usage + more)
        self._usage += more
        self._added = True

    @property
    def _age(self) -> float:
        return self._clock.now() - self._counted_at

    async def _count(self, count: Count) -> None:
        await self._still.wait()  # what is on its way would be left out
        began = self._clock.now()
        self._usage, self._added = await count(), False
        self._counted_at = began
        self._life = max(BRIEFLY, _WORTH * (self._clock.now() - began))
