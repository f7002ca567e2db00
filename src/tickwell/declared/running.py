"""Running a scheduler: blocking, in a loop that exists, in a web application, in the background."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Collection
from contextlib import asynccontextmanager
from typing import Self

from tickwell.declared.blocking import Blocking
from tickwell.declared.lifecycle import BOTH, Lifecycle, until_signal
from tickwell.declared.loops import refuse_a_loop
from tickwell.domain.health import ProcessHealth


class Running(ABC):
    """The ways to start a scheduler, and what can be asked about one that runs."""

    blocking: Blocking

    @property
    @abstractmethod
    def _life(self) -> Lifecycle: ...

    @abstractmethod
    async def start(self, roles: Collection[str] = BOTH) -> None:
        """Set the engine going."""

    @abstractmethod
    async def stop(self) -> None:
        """Drain it."""

    @abstractmethod
    async def _print_banner(self) -> None:
        """Tell a person on a terminal that it runs."""

    @abstractmethod
    def _make_loop(self) -> asyncio.AbstractEventLoop: ...

    async def serve(self) -> None:
        """Run until SIGTERM or SIGINT, inside a loop that exists."""
        async with until_signal() as signalled, self:
            await self._print_banner()
            await signalled.wait()

    def run(self) -> None:
        """Run until SIGTERM or SIGINT, blocking."""
        refuse_a_loop(
            "run() makes an event loop, and one runs here already; write `await scheduler.serve()`"
        )
        with asyncio.Runner(loop_factory=self._make_loop) as runner:
            runner.run(self.serve())

    def start_in_background(self, roles: Collection[str] = BOTH) -> None:
        """Run in a thread of its own until `blocking.stop()` or the end of the process."""
        self.blocking.call(lambda: self.start(roles))

    async def __aenter__(self) -> Self:
        try:
            await self.start()
        except (Exception, asyncio.CancelledError):
            await self.stop()  # nobody else would: who did not get in does not leave
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    @asynccontextmanager
    async def lifespan(self, _app: object = None) -> AsyncIterator[None]:
        """For web frameworks: `FastAPI(lifespan=scheduler.lifespan)`, in every web worker."""
        async with self:
            yield

    @property
    def is_running(self) -> bool:
        """Whether the engine runs in this process."""
        return self._life.engine is not None and self._life.engine.running

    @property
    def is_processing(self) -> bool:
        """Whether an attempt is under way in this process."""
        return self._life.engine is not None and bool(self._life.engine.runner.started())

    @property
    def is_idle(self) -> bool:
        """Whether the engine runs and has nothing in hand."""
        return self.is_running and self.health().in_hand == 0

    def health(self) -> ProcessHealth:
        """How the engine in this process is."""
        if self._life.engine is None:
            return ProcessHealth(ok=False, problems=["the engine is not running"])
        return self._life.engine.health()
