"""A bell: tells other processes that something was written, soon and not too often."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from typing import ClassVar

from tickwell.ports.notifier import FAILURES
from tickwell.stores.event_wait import comes

#: Seconds: what is written together is told once, and then not again for a while.
GATHER = 0.005
APART = 0.05
#: Seconds that closing waits for a ring that is being sent: the server may never answer.
PATIENCE = 1.0


class Bell(ABC):
    """Rings at a bounded rate; a store says how one ring is sent."""

    #: What sending may raise: a ring is a hint, and who needs it polls.
    trouble: ClassVar[tuple[type[Exception], ...]]

    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None
        self._rung = False
        self._closed = asyncio.Event()

    @abstractmethod
    async def send(self) -> None:
        """Tell the others once."""

    def ring(self) -> None:
        """Tell soon; ringing again before that is the same ring."""
        self._rung = True
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._main())

    async def close(self) -> None:
        """Send what is due, and no more.

        A ring that is being sent ends by itself. Cancelled, it would be lost, and the MongoDB
        driver would leave a socket open that it was just connecting.
        """
        self._closed.set()
        task, self._task = self._task, None
        if task is not None:
            await asyncio.wait([task], timeout=PATIENCE)
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)

    async def _main(self) -> None:
        await comes(self._closed, GATHER)
        while self._rung:
            await self._send()
            await comes(self._closed, APART)

    async def _send(self) -> None:
        self._rung = False
        try:
            await self.send()
        except self.trouble:
            FAILURES.count += 1
