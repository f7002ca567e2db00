"""The turn of a held attempt: its task goes on at its instant, not behind what is ready by then."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import Any

#: What goes on, and in which context; tasks give both.
Waiter = tuple[Callable[[Any], object], Context]


class Turn(asyncio.Future[None]):
    """A future for which one task waits."""

    _waiter: Waiter | None = None

    def add_done_callback(
        self, fn: Callable[[Any], object], /, *, context: Context | None = None
    ) -> None:
        """Remember who waits."""
        if context is not None:
            self._waiter = fn, context
        super().add_done_callback(fn, context=context)

    def set_result(self, result: None, /) -> None:
        """Go on with the task that waits, before this returns.

        Woken as usual it stands behind whatever is ready, 80 attempts of a crowd perhaps, and what
        they send to a store: 3 ms for the latest of a few. From within another task it has to.
        """
        if self._waiter is None or asyncio.current_task() is not None:
            super().set_result(result)
            return
        go_on, context = self._waiter
        self.remove_done_callback(go_on)
        super().set_result(result)
        context.run(go_on, self)
