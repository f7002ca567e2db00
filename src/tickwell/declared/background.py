"""A thread with an event loop of its own, for programs that have none."""

from __future__ import annotations

import asyncio
import atexit
import threading
from collections.abc import Callable

#: Called while threads can still be started: what `atexit` calls comes after the end of all pools,
#: and a store closes with the help of one.
at_exit: Callable[[Callable[[], None]], object] = getattr(
    threading, "_register_atexit", atexit.register
)


class Background:
    """An event loop in a thread of its own, which ends with the process."""

    def __init__(self, loop_factory: Callable[[], asyncio.AbstractEventLoop]) -> None:
        self.loop = loop_factory()
        self._thread = threading.Thread(target=self._run, name="tickwell-loop", daemon=True)
        self._thread.start()

    def _run(self) -> None:
        asyncio.set_event_loop(self.loop)
        self.loop.run_forever()
        self.loop.close()

    def end(self) -> None:
        """Stop the loop and wait for its thread."""
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.join()

    def join(self) -> None:
        """Wait for its end."""
        self._thread.join()
