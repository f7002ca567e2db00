"""Where a suite of processes works: jobs, the store's time, and the account at the end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from random import SystemRandom

from tickwell.clock import StoreClock, to_datetime
from tickwell.domain.execution import ENDED, LIVE
from tickwell.domain.gate import Overlap
from tickwell.domain.job import Entry, Job
from tickwell.domain.planning import first_cursor
from tickwell.domain.policy import Misfire, OnMisfire
from tickwell.domain.promises import Promises
from tickwell.domain.target import Call
from tickwell.domain.trigger import Every, Once, Trigger
from tickwell.ids import new_id
from tickwell.ports.store import Store
from tickwell.testing.verify import notes
from tickwell.testing.verify.account import Account, take
from tickwell.testing.verify.agent import HANDLER
from tickwell.testing.verify.crew import Crew, crew
from tickwell.testing.verify.orders import AgentOrders, Orders, maker
from tickwell.testing.verify.places import Place

#: Seconds in which work that can end has ended on the slowest machine.
PATIENCE = 90.0
#: Whatever happens to processes, every fire time runs.
RUN_ALL = Misfire(policy=OnMisfire.ALL, grace="1d", cap=1000)
_BATCH = 500
_PINGS = 5
_clock = StoreClock()


@dataclass(slots=True)
class Site:
    """What all suites share."""

    orders: Orders
    tag: str
    place: Place
    promises: Promises
    folder: Path
    tell: Callable[[str], None]
    #: Where calls are written down; one file a suite.
    notes: Path = field(init=False)

    @asynccontextmanager
    async def running(self, suite: str) -> AsyncIterator[Run]:
        """The place emptied, and opened."""
        self.notes = self.folder / suite
        await self.place.empty()
        store = maker(self.orders.make)(self.place.url)
        await store.open()
        told = AgentOrders(url=self.place.url, make=self.orders.make, notes=str(self.notes))
        try:
            async with crew(told, self.folder / "errors") as hands:
                yield Run(store, hands, self.notes)
        finally:
            await store.close()


@dataclass(slots=True)
class Run:
    """One suite under way."""

    store: Store
    crew: Crew
    path: Path
    fires: dict[str, list[int]] = field(default_factory=dict)
    #: What the store's clock is ahead of the monotonic one at most, in seconds.
    latest: float = float("-inf")

    async def now(self) -> int:
        """The store's time; and how far it can be ahead of ours is seen on the way."""
        bounds = []
        for _ in range(_PINGS):
            sent = _clock.monotonic()
            answer = await self.store.ping()
            bounds.append(answer / 1000 - sent)
        # Each is an upper bound, so the least one is; but a clock may be set between two calls.
        self.latest = max(self.latest, min(bounds))
        return answer

    async def add_once(self, count: int, at: int) -> None:
        """So many jobs that all fire at one instant."""
        await self._add([(Once(to_datetime(at)), [at])] * count, 0.0)

    async def add_every(self, count: int, period: int, first: int, last: int, nap: float) -> None:
        """So many jobs that fire at the multiples of a period, of so many seconds each."""
        fires = [at for at in range(first, last + 1) if at % period == 0]
        span = timedelta(milliseconds=period)
        trigger = Every(span, start=to_datetime(first), until=to_datetime(last))
        await self._add([(trigger, fires)] * count, nap)

    async def _add(self, wanted: Iterable[tuple[Trigger, list[int]]], nap: float) -> None:
        random, now = SystemRandom(), await self.now()
        entries = []
        for trigger, fires in wanted:
            id = new_id(now, random)
            job = Job(
                id=id,
                name=f"verify-{id}",
                trigger=trigger,
                target=Call(HANDLER),
                payload={"seconds": nap},
                misfire=RUN_ALL,
                overlap=Overlap.ALLOW,
                created_at=now,
                saved_at=now,
            )
            self.fires[id] = fires
            entries.append(Entry(job, first_cursor(job, now)))
        for begin in range(0, len(entries), _BATCH):
            await self.store.add_jobs(entries[begin : begin + _BATCH], now)

    def notes(self) -> list[notes.Note]:
        """What processes wrote down so far."""
        return notes.read(self.path)

    async def quiet(self) -> None:
        """Until every fire has ended; what has not by then is found by the account."""
        expected = sum(map(len, self.fires.values()))

        async def is_quiet() -> bool:
            stats = await self.store.stats()
            ended = sum(stats.get(state, 0) for state in ENDED)
            return ended >= expected and not any(stats.get(state, 0) for state in LIVE)

        await until(is_quiet, PATIENCE)

    async def account(self) -> Account:
        """What it came to."""
        await self.now()
        return await take(self.store, self.fires, self.notes(), self.latest)


async def until(happened: Callable[[], Awaitable[bool]], seconds: float) -> bool:
    """Whether something happened in time."""
    end = _clock.monotonic() + seconds
    while not await happened():
        if _clock.monotonic() > end:
            return False
        await _clock.wait(asyncio.Event(), 0.05)
    return True
