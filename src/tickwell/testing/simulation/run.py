"""One simulated run, from a seed to a verdict."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from random import Random
from typing import Any

from tickwell.declared.loops import refuse_a_loop
from tickwell.domain.execution import State
from tickwell.testing.simulation.loop import SimLoop
from tickwell.testing.simulation.nemesis import Nemesis
from tickwell.testing.simulation.node import Node
from tickwell.testing.simulation.oracle import Oracle
from tickwell.testing.simulation.people import People
from tickwell.testing.simulation.scenario import Scenario, scenario_of
from tickwell.testing.simulation.watch import Watch
from tickwell.testing.simulation.world import World


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """A run that kept every promise, and what it consisted of."""

    seed: int
    #: A hash over (virtual time, process, event): equal for equal seeds.
    trace: str
    events: int
    executions: int
    starts: int
    losses: int
    states: dict[State, int]


def simulate(seed: int, scenario: Scenario | None = None) -> Verdict:
    """Run production planners, workers, reapers and reporters through the faults of a seed.

    Raises `Violation` with the last events when a promise is broken, `Deadlock` when all stands
    still. The same seed gives the same run, to the microsecond.
    """
    refuse_a_loop(
        "simulate() makes an event loop, and one runs here already; call it in a test that is not"
        " async, or in a thread"
    )
    scenario = scenario or scenario_of(seed)
    loop = SimLoop(Random(f"{seed}:loop"))
    world = World(scenario, loop)
    loop.set_exception_handler(lambda _, context: _unhandled(world, context))
    try:
        return loop.run_until_complete(_Run(world).run())
    finally:
        world.close()


def _unhandled(world: World, context: dict[str, Any]) -> None:
    error = context.get("exception")
    world.fail(f"not caught: {context['message']} {error!r}")


class _Run:
    def __init__(self, world: World) -> None:
        self.world = world
        self.watch = Watch(world)
        self.nodes = [Node(world, self.watch, n) for n in range(world.scenario.nodes)]
        self.people = People(world, self.watch)
        self.nemesis = Nemesis(world, self.nodes)

    async def run(self) -> Verdict:
        story = asyncio.ensure_future(self._story())
        await asyncio.wait({story, self.world.failed}, return_when=asyncio.FIRST_COMPLETED)
        if self.world.failed.done():
            story.cancel()
            self.world.failed.result()
        story.result()
        stats = await self.world.store.stats()
        return Verdict(
            seed=self.world.scenario.seed,
            trace=self.world.trace,
            events=self.world.events,
            executions=len(self.watch.rows.seen),
            starts=len(self.watch.leases.starts),
            losses=self.watch.leases.losses,
            states={state: count for state, count in stats.items() if count},
        )

    async def _story(self) -> None:
        await self.people.begin()
        for node in self.nodes:
            node.boot()
        await asyncio.gather(self.nemesis.run(), self.people.run())
        await self._heal()
        await self.world.sleep(self.world.scenario.recovery)
        Oracle(self.world, self.watch).judge()

    async def _heal(self) -> None:
        """Faults end; a healthy core goes on, the others are gone for good.

        Faults that always heal cannot show that the rest makes progress without the others.
        """
        world = self.world
        world.note("nemesis", "heal")
        world.calm, world.slowness, world.outage_until = True, 1.0, 0.0
        world.jump(world.highest_offset - world.offset)
        random = world.random("core")
        core = set(random.sample(range(len(self.nodes)), random.randint(1, len(self.nodes))))
        if world.scenario.exclusive:
            core.add(0)
        await self.people.resume_all()
        for node in self.nodes:
            node.resume()
            if node.number in core:
                node.boot()
            else:
                node.kill()
                node.retired = True
        self.nodes = [node for node in self.nodes if node.number in core]
