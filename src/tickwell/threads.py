"""Threads whose end an event loop can wait for."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from concurrent.futures import Future


class AwaitedThread(threading.Thread):
    """A daemon thread that an event loop joins without the help of another thread.

    While the interpreter shuts down, Python 3.12 and later start no thread, and `asyncio.to_thread`
    starts one; a scheduler in the background is stopped just then.
    """

    def __init__(self, target: Callable[..., None], name: str, *args: object) -> None:
        super().__init__(target=target, name=name, args=args, daemon=True)
        self._over: Future[None] = Future()

    def run(self) -> None:
        """Do the work, and tell every loop that waits."""
        try:
            super().run()
        finally:
            self._over.set_result(None)

    async def ended(self, seconds: float | None = None) -> None:
        """Wait until it has ended, this many seconds at most."""
        if not self.is_alive():
            return  # in a forked child too: it stayed with the parent
        await asyncio.wait([asyncio.wrap_future(self._over)], timeout=seconds)
        if self._over.done():
            self.join()
