"""What suites share: jobs to run, processes, the store's time, and the account at the end."""

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
from tickwell.testing.verify.orders import AgentOrders, Orders, maker
from tickwell.testing.verify.processes import Processes, processes
from tickwell.testing.verify.scratch import ScratchStore

#: Seconds after which work must have ended, even on a slow machine.
TIMEOUT = 90.0
#: Every fire time runs, whatever happens to processes.
RUN_ALL = Misfire(policy=OnMisfire.ALL, grace="1d", cap=1000)
_BATCH = 500
_PINGS = 5
_clock = StoreClock()


@dataclass(slots=True)
class Verification:
    """What all suites of one verification share."""

    orders: Orders
    tag: str
    scratch: ScratchStore
    promises: Promises
    folder: Path
    tell: Callable[[str], None]
    #: The file with the calls of the current suite.
    notes: Path = field(init=False)

    @asynccontextmanager
    async def running(self, suite: str) -> AsyncIterator[Run]:
        """Empty the scratch store, and open it."""
        self.notes = self.folder / suite
        await self.scratch.empty()
        store = maker(self.orders.make)(self.scratch.url)
        await store.open()
        orders = AgentOrders(url=self.scratch.url, make=self.orders.make, notes=str(self.notes))
        try:
            async with processes(orders, self.folder / "errors") as agents:
                yield Run(store, agents, self.notes)
        finally:
            await store.close()


@dataclass(slots=True)
class Run:
    """One suite that is running."""

    store: Store
    processes: Processes
    path: Path
    fires: dict[str, list[int]] = field(default_factory=dict)
    #: An upper bound of the store's clock minus the monotonic clock, in seconds.
    latest: float = float("-inf")

    async def now(self) -> int:
        """The store's time; also updates `latest`."""
        bounds = []
        for _ in range(_PINGS):
            sent = _clock.monotonic()
            answer = await self.store.ping()
            bounds.append(answer / 1000 - sent)
        # Each is an upper bound, so the least one is; but a clock may be set between two calls.
        self.latest = max(self.latest, min(bounds))
        return answer

    async def add_once(self, count: int, at: int) -> None:
        """Add jobs that all fire at one instant."""
        await self._add([(Once(to_datetime(at)), [at])] * count, 0.0)

    async def add_every(self, count: int, period: int, first: int, last: int, nap: float) -> None:
        """Add jobs that fire at the multiples of a period and run for `nap` seconds."""
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
        """The notes of all processes so far."""
        return notes.read(self.path)

    async def quiet(self) -> None:
        """Wait until every execution has ended; the account finds those that have not."""
        expected = sum(map(len, self.fires.values()))

        async def is_quiet() -> bool:
            stats = await self.store.stats()
            ended = sum(stats.get(state, 0) for state in ENDED)
            return ended >= expected and not any(stats.get(state, 0) for state in LIVE)

        await until(is_quiet, TIMEOUT)

    async def account(self) -> Account:
        """Compare the records with the notes."""
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
