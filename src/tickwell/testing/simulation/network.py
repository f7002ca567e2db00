"""The way to the store: it takes time, loses requests, and loses replies to what was done."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from random import Random
from typing import Any

from tickwell.domain.project_pause import PROJECT_PAUSE_KIND
from tickwell.errors import StoreUnavailable
from tickwell.testing.simulation.loop import Process
from tickwell.testing.simulation.scenario import Fault
from tickwell.testing.simulation.watch import Watch
from tickwell.testing.simulation.world import World


class NodeDead(StoreUnavailable):
    """The process was killed: nothing that its remains do has an effect."""


class Line:
    """One process's connection."""

    def __init__(self, world: World, watch: Watch, process: Process) -> None:
        self.world = world
        self.watch = watch
        self.process = process
        self.random = world.random(f"line {process.name}")
        #: For calls on which no promise depends: they shift nothing of what others draw.
        self.asides = world.random(f"asides {process.name}")
        #: This process alone cannot reach the store until then.
        self.cut_until = 0.0

    async def call(self, method: str, args: tuple[Any, ...], options: dict[str, Any]) -> Any:
        """Send a request and wait for its reply."""
        if self.process.gone:
            raise NodeDead("killed")
        if args[:1] == (PROJECT_PAUSE_KIND,) and Fault.PROJECT not in self.world.scenario.faults:
            return []  # nobody pauses projects: seeds of before there were pauses stay as they are
        reply: asyncio.Future[Any] = self.world.loop.create_future()
        # What is under way is nobody's: it may arrive though its sender was stopped or killed.
        self.world.spawn(self._carry(method, args, options, reply))
        return await reply

    async def _carry(
        self,
        method: str,
        args: tuple[Any, ...],
        options: dict[str, Any],
        reply: asyncio.Future[Any],
    ) -> None:
        chance, random = self.world.scenario, self.random
        if method == "record_starts":
            random = self.asides
        # All drawn now, so that what happens under way does not shift what is drawn later.
        there, back, dies = self._delay(random), self._delay(random), random.random() < 0.5
        lost_before = random.random() < chance.errors_before and not self.world.calm
        lost_after = random.random() < chance.errors_after and not self.world.calm
        if method in {"ping", "beat"} and (lost_before or lost_after or there + back > 0.5):
            self.process.troubled_at = self.world.loop.time() + there + back
        await self.world.sleep(there)
        if self.process.gone and dies:
            return
        if lost_before or self._is_cut():
            await self.world.sleep(back)
            self._answer(reply, method, StoreUnavailable("the request was lost"))
            return
        try:
            result = await self.watch.apply(self.process, method, args, options)
        except Exception as error:  # noqa: BLE001 - passed on to the caller
            result = error
        await self.world.sleep(back)
        if lost_after or self._is_cut():
            result = StoreUnavailable("the reply was lost")
        self._answer(reply, method, result)

    def _answer(self, reply: asyncio.Future[Any], method: str, result: Any) -> None:
        if reply.done():
            return  # its caller was cancelled
        if isinstance(result, Exception):
            self.world.note(self.process.name, f"{method}: {result}")
            reply.set_exception(result)
            if self.process.gone:
                reply.exception()  # no task is left to read it
        else:
            reply.set_result(result)

    def _is_cut(self) -> bool:
        now = self.world.loop.time()
        return now < self.world.outage_until or now < self.cut_until

    def _delay(self, random: Random) -> float:
        delay = (random.expovariate(1000.0) + 0.0002) * self.world.slowness
        if random.random() < self.world.scenario.slow_calls and not self.world.calm:
            delay += random.random() * 2
        return delay


class NodeStore:
    """The store as one process sees it; implements `ports.store.Store` by forwarding every call."""

    name = "simulated://"

    def __init__(self, line: Line) -> None:
        self._line = line

    def __getattr__(self, method: str) -> Callable[..., Awaitable[Any]]:
        line = self._line

        async def call(*args: Any, **options: Any) -> Any:
            return await line.call(method, args, options)

        return call
