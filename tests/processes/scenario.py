"""A little of everything, on a clock that is driven by hand: the same calls in the same order.

One process creates jobs, plans, claims, runs and reports. Whatever stops it, another one can take
the same script up from the beginning, because repeating any of it has no second effect.
"""

import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from tests.faults.history import History
from tests.processes.faulty_store import Faults, FaultyStore
from tests.processes.jobs import RUN_ALL, add_jobs, every, job, multiples, once, request, uuid_of
from tests.processes.journal import Journal
from tests.processes.reading import read_history
from tickwell.domain.change import pause, resume
from tickwell.domain.execution import LIVE
from tickwell.domain.gate import Concurrency, Overlap
from tickwell.domain.policy import Backoff, Retry
from tickwell.domain.trigger import OnDemand
from tickwell.engine.engine import Engine
from tickwell.engine.liveness.reaper import Reaper
from tickwell.engine.planning.planner import Planner
from tickwell.errors import StoreUnavailable
from tickwell.executors.call import CallExecutor
from tickwell.executors.handlers import Handlers
from tickwell.executors.run import Run
from tickwell.settings import Settings
from tickwell.testing.clock import ManualClock

#: 2030-01-01 00:00 UTC.
BEGIN = 1_893_456_000_000
SETTINGS = Settings(store="sqlite:///", lease="30s", beat="10s", sweep="5s", prune_every="10000d")
RETRY = Retry(max_attempts=3, backoff=Backoff.FIXED, delay="1s", jitter=0.0)
#: Rounds after which work that does not end is given up on.
MOST_ROUNDS = 60

JOBS = [
    job("single", "note", once(BEGIN + 1000), BEGIN, misfire=RUN_ALL),
    job(
        "series",
        "note",
        every(1000, BEGIN + 1000, BEGIN + 3000),
        BEGIN,
        misfire=RUN_ALL,
        overlap=Overlap.QUEUE_ALL,
    ),
    job("flaky", "flaky", once(BEGIN + 1500), BEGIN, misfire=RUN_ALL, retry=RETRY),
    *(
        job(
            f"keyed-{number}",
            "note",
            once(BEGIN + 2000),
            BEGIN,
            misfire=RUN_ALL,
            concurrency=Concurrency("key", 1),
        )
        for number in range(2)
    ),
    job("asked", "note", OnDemand(), BEGIN),
]
FIRES = {
    "single": [BEGIN + 1000],
    "series": multiples(1000, BEGIN + 1000, BEGIN + 3000),
    "flaky": [BEGIN + 1500],
    "keyed-0": [BEGIN + 2000],
    "keyed-1": [BEGIN + 2000],
    "asked": [],
}
REQUESTS = (uuid_of("requested-run"),)
#: Executions in all.
EXPECTED = sum(map(len, FIRES.values())) + len(REQUESTS)


async def history_of(store: Any, calls: Path) -> History:
    """What was to happen, and what the store and the handlers say."""
    return await read_history(store, FIRES, calls, REQUESTS)


class DrivenClock(Faults):
    """The store's clock is the one that the scenario drives, and not the host's."""

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock

    async def after(self, method: str, answer: Any) -> Any:
        return self.clock.now() if method == "ping" else answer


class Scenario:
    """One process that works through it, step by step."""

    def __init__(
        self, store: Any, calls: Path, name: str, *faults: Faults, begin: int = BEGIN
    ) -> None:
        self.clock = ManualClock(begin)
        self.store: Any = FaultyStore(store, DrivenClock(self.clock), *faults)
        self.journal = Journal(calls)
        #: Seconds that each round takes.
        self.stride = 0.5
        handlers = Handlers()
        handlers.add("note", self.note)
        handlers.add("flaky", self.flaky)
        self.engine = Engine(
            self.store, CallExecutor(handlers), self.clock, SETTINGS, random=random.Random(name)
        )
        self.planner = self._service("planner", Planner)
        self.reaper = self._service("reaper", Reaper)

    def _service(self, name: str, kind: type) -> Any:
        service = self.engine._loops[name].service
        assert isinstance(service, kind)
        return service

    async def note(self, run: Run) -> None:
        self.journal.write("begin", run.id, run.attempt, run.job, at=self.clock.now(), slack=0)

    async def flaky(self, run: Run) -> None:
        await self.note(run)
        if run.attempt == 1:
            raise RuntimeError("the first attempt fails as planned")

    async def run(self) -> None:
        """Create everything, and work until nothing is left to do."""
        self.engine._started_at = self.clock.now()
        await self._retried(lambda: add_jobs(self.store, JOBS, BEGIN))
        await self._retried(self._request)
        await self._retried(self._pause_and_resume)
        for _ in range(MOST_ROUNDS):
            await self._round()
            if await self._is_over():
                return

    async def _request(self) -> None:
        new = [request(JOBS[-1], id, BEGIN) for id in REQUESTS]
        await self.store.add_executions(new, BEGIN, 2000)

    async def _pause_and_resume(self) -> None:
        """A pause that is over before anything is due takes nothing away."""
        change = self.store.change_jobs
        await change("default", [uuid_of("single")], pause("person", "a look"), BEGIN)
        await change("default", [uuid_of("single")], resume(), BEGIN)

    async def _round(self) -> None:
        engine = self.engine
        for step in (
            engine.pulse.step,
            self.planner.step,
            engine.worker.step,
            engine.reporter.step,
            self.reaper.step,
        ):
            await self._retried(step)
            await self.clock.settle()
        await self.clock.advance(self.stride)

    async def _retried(self, call: Callable[[], Awaitable[Any]]) -> None:
        """What a loop does: a failed step is done again."""
        while True:
            try:
                await call()
            except StoreUnavailable:
                await self.clock.settle()
            else:
                return

    async def _is_over(self) -> bool:
        stats: dict[Any, int] = {}

        async def look() -> None:
            stats.update(await self.store.stats())

        await self._retried(look)
        return sum(stats.values()) >= EXPECTED and not any(stats.get(state, 0) for state in LIVE)
