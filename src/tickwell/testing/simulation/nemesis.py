"""Injects the faults of the scenario."""

from __future__ import annotations

from tickwell.testing.simulation.node import Node
from tickwell.testing.simulation.scenario import Fault
from tickwell.testing.simulation.world import World

HOUR = 3_600_000
_NOT_AN_EVENT = frozenset({Fault.LOSS, Fault.PEOPLE, Fault.PROJECT})


class Nemesis:
    """One fault after the other; several may last at once."""

    def __init__(self, world: World, nodes: list[Node]) -> None:
        self.world = world
        self.nodes = nodes
        self.random = world.random("nemesis")
        # Sorted: the order of a set differs from one interpreter to the next.
        self.faults = sorted(world.scenario.faults - _NOT_AN_EVENT)
        self._years = 0
        #: By how much the store's clock is wrong.
        self._hours = 0

    async def run(self) -> None:
        """Until the time for faults is over."""
        scenario = self.world.scenario
        while self.faults and self.world.loop.time() < scenario.duration:
            await self.world.sleep(self.random.expovariate(1 / scenario.calm))
            if self.world.loop.time() < scenario.duration:
                await self._strike(self.random.choice(self.faults))

    async def _strike(self, fault: Fault) -> None:
        node, random = self.random.choice(self.nodes), self.random
        settings = self.world.scenario.settings
        self.world.note("nemesis", f"{fault} {node.number}")
        if fault is Fault.CRASH:
            node.kill()
            self.world.spawn(self._later(random.expovariate(1 / 5), node))
        elif fault is Fault.RESTART:
            node.stop()
            self.world.spawn(self._later(random.uniform(1, 20), node))
        elif fault is Fault.PAUSE:
            node.pause()
            self.world.spawn(self._wake(random.uniform(0.1, 3) * settings.lease, node))
        elif fault is Fault.OUTAGE:
            length = random.uniform(0.2, 3) * settings.lease
            self.world.outage_until = self.world.loop.time() + length
        elif fault is Fault.CUT:
            node.cut(random.uniform(0.2, 2) * settings.lease)
        elif fault is Fault.SLOWNESS:
            await self._slow_down()
        else:
            self._set_clock(fault)

    async def _later(self, seconds: float, node: Node) -> None:
        await self.world.sleep(seconds)
        node.boot()

    async def _wake(self, seconds: float, node: Node) -> None:
        await self.world.sleep(seconds)
        node.resume()

    async def _slow_down(self) -> None:
        self.world.slowness = self.random.choice((20.0, 200.0))
        await self.world.sleep(self.random.uniform(2, 15))
        self.world.slowness = 1.0

    def _set_clock(self, fault: Fault) -> None:
        if fault is Fault.YEAR:
            self._years += 1
            if self._years == 1:
                self.world.jump(365 * 24 * HOUR)
        elif self._hours:
            self.world.jump(-self._hours * HOUR)  # an operator notices, and corrects it
            self._hours = 0
        else:
            self._hours = self.random.choice((-2, 2))
            self.world.jump(self._hours * HOUR)
