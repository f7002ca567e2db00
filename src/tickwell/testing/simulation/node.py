"""A simulated process: one full engine, that can be killed, stopped, paused and started again."""

from __future__ import annotations

import asyncio
from typing import cast

from tickwell.domain.event import Event, ListenerFailed, StepFailed
from tickwell.engine.engine import Engine
from tickwell.errors import StoreError
from tickwell.ports.store import Store
from tickwell.testing.simulation.clock import NodeClock
from tickwell.testing.simulation.handlers import SimExecutor
from tickwell.testing.simulation.loop import Process, context_of
from tickwell.testing.simulation.network import Line, NodeStore
from tickwell.testing.simulation.watch import Watch
from tickwell.testing.simulation.world import World


class Node:
    """A host on which one process runs at a time."""

    def __init__(self, world: World, watch: Watch, number: int) -> None:
        self.world = world
        self.watch = watch
        self.number = number
        self.incarnation = 0
        self.process: Process | None = None
        self.line: Line | None = None
        self.engine: Engine | None = None
        #: No process starts here any more.
        self.retired = False
        #: A process is to start here when the one that is stopping has ended.
        self._awaited = False
        #: Kept to the end: collecting one would run the `finally` blocks of a killed process.
        self._remains: list[Engine] = []

    def boot(self) -> None:
        """Start a process unless one runs; if one is stopping, start when it has ended."""
        self._awaited = True
        if self.process is not None or self.retired:
            return
        self.incarnation += 1
        process = self.process = Process(f"n{self.number}.{self.incarnation}")
        self.line = Line(self.world, self.watch, process)
        self.world.note(process.name, "boot")
        self.world.spawn(self._run(process, self.line), context_of(process))

    async def _run(self, process: Process, line: Line) -> None:
        random = self.world.random(f"node {process.name}")
        drift = self.world.scenario.drift
        clock = NodeClock(self.world, random.random() * 1e6, 1 + random.uniform(-drift, drift))
        executor = SimExecutor(self.world, self.watch, process, clock, self.number)
        engine = Engine(
            cast("Store", NodeStore(line)),
            executor,
            clock,
            self.world.scenario.settings,
            random=random,
        )
        engine.events.subscribe(self._hear)
        engine.runner.guard.is_garbage_due = lambda: False  # the seed decides, not this process
        self._remains.append(engine)
        while not engine.running:
            try:
                await engine.start()
            except StoreError:
                await clock.wait(asyncio.Event(), 1.0)
        self.engine = engine

    def _hear(self, event: Event) -> None:
        """An unreachable store is expected; any other error of a step is a violation."""
        if isinstance(event, StepFailed) and not isinstance(event.error, StoreError):
            error = event.error
            raise self.world.fail(f"{event.service} failed: {error!r}") from error
        if isinstance(event, ListenerFailed):
            raise self.world.fail(f"a listener failed: {event.error!r}") from event.error

    def kill(self) -> None:
        """As by SIGKILL: nothing of it runs any more."""
        if self.process is not None:
            self.world.note(self.process.name, "killed")
            self.process.gone = True
            self.process = self.engine = self.line = None

    def pause(self) -> None:
        """As by SIGSTOP."""
        if self.process is not None:
            self.world.note(self.process.name, "paused")
            self.process.asleep = True

    def resume(self) -> None:
        """As by SIGCONT."""
        if self.process is not None and self.process.asleep:
            self.world.note(self.process.name, "resumed")
            self.process.troubled_at = self.world.loop.time()
            self.world.loop.resume(self.process)

    def cut(self, seconds: float) -> None:
        """Its connection to the store is away."""
        if self.line is not None and self.process is not None:
            self.world.note(self.process.name, "cut")
            self.line.cut_until = self.world.loop.time() + seconds
            self.process.troubled_at = self.line.cut_until

    def stop(self) -> None:
        """As by SIGTERM."""
        if self.process is not None and self.engine is not None:
            self.world.note(self.process.name, "stopping")
            self.world.spawn(self._stop(self.process, self.engine), context_of(self.process))
            self.engine = None
            self._awaited = False

    async def _stop(self, process: Process, engine: Engine) -> None:
        await engine.stop()
        if self.process is process:
            self.kill()
            if self._awaited:
                self.boot()
