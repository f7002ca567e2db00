"""What simulated jobs call: handlers that are quick, slow, faulty, or never end."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from tickwell.domain.ability import handler_of
from tickwell.domain.execution import Claim, OutcomeKind
from tickwell.domain.job import Job
from tickwell.domain.outcome import Outcome
from tickwell.ports.executor import Sort
from tickwell.testing.simulation.clock import NodeClock
from tickwell.testing.simulation.loop import Process
from tickwell.testing.simulation.watch import Watch
from tickwell.testing.simulation.world import World

#: By the slots that they take.
TASKS = ("quick", "slow", "flaky", "broken", "hangs", "stubborn", "snoozes")
THREADS = ("thread", "refuses", "raises")
#: Known to the first node only, where a scenario says so.
EXCLUSIVE = frozenset({"thread", "snoozes"})


class SimExecutor:
    """`ports.executor.Executor` that tells the watch what it starts."""

    def __init__(
        self, world: World, watch: Watch, process: Process, clock: NodeClock, number: int
    ) -> None:
        self.world = world
        self.watch = watch
        self.process = process
        self.clock = clock
        self.number = number
        self.random = world.random(f"handlers {process.name}")

    async def close(self) -> None:
        """Nothing is held open."""

    def abilities(self) -> Mapping[Sort, frozenset[str]]:
        return {Sort.TASK: self._known(TASKS), Sort.THREAD: self._known(THREADS)}

    def _known(self, names: tuple[str, ...]) -> frozenset[str]:
        hidden = EXCLUSIVE if self.world.scenario.exclusive and self.number else frozenset()
        return frozenset(f"call:{name}" for name in names if name not in hidden)

    async def refusal(self, job: Job) -> str:
        """It runs whatever it is asked to."""
        return ""

    def prepare(self, job: Job) -> None:
        """There is nothing to load."""

    async def run(self, claim: Claim) -> Outcome:
        self.watch.leases.started(self.process, self.clock, claim)
        outcome = await self._act(handler_of(claim.job.ability))
        self.watch.leases.ended(claim, outcome.kind)
        return outcome

    async def _act(self, handler: str) -> Outcome:
        random = self.random
        await self._rest(random.random() * 0.05)
        if self.world.calm:  # what goes on failing may fall behind for good
            return Outcome(kind=OutcomeKind.SUCCEEDED)
        if handler == "slow":
            await self._rest(random.uniform(0.5, 6))
        elif handler == "hangs" and random.random() < 0.5:
            await self._rest(1e6)
        elif handler == "stubborn":
            await self._resist(random.uniform(1, 40))
        elif handler == "raises" and random.random() < 0.7:
            raise RuntimeError("on purpose")
        elif handler == "refuses" and random.random() < 0.5:
            return Outcome(kind=OutcomeKind.FAILED, error="refused", retry=False)
        elif handler == "snoozes" and random.random() < 0.5:
            return Outcome(kind=OutcomeKind.SNOOZED, delay=random.randint(0, 3000))
        elif handler == "broken" or (handler == "flaky" and random.random() < 0.5):
            return Outcome(kind=OutcomeKind.FAILED, error="failed on purpose")
        return Outcome(kind=OutcomeKind.SUCCEEDED)

    async def _rest(self, seconds: float) -> None:
        await self.clock.wait(asyncio.Event(), seconds)

    async def _resist(self, seconds: float) -> None:
        """Ignore being asked to stop."""
        end = self.clock.monotonic() + seconds
        while self.clock.monotonic() < end and not self.world.calm:
            try:
                await self._rest(0.5)
            except asyncio.CancelledError:
                continue
