"""Waiting for the end of an execution, wherever it runs."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from tickwell.clock import Clock
from tickwell.domain.event import AttemptsFinished, Event, Events
from tickwell.domain.execution import ENDED, Execution

#: Seconds between two looks: what ends in another process, or is called off, is not told here.
LOOK = 0.5


async def until_ended(
    id: str,
    look: Callable[[str], Awaitable[Execution]],
    events: Events,
    clock: Clock,
    seconds: float,
) -> Execution:
    """The execution once it has ended; as it stands when the time is over."""
    news, last = asyncio.Event(), clock.monotonic() + seconds

    def on_event(event: Event) -> None:
        if isinstance(event, AttemptsFinished) and any(
            report.claim.id == id for report in event.reports
        ):
            news.set()

    forget = events.subscribe(on_event)
    try:
        while True:
            news.clear()  # before the look, so that no news is lost
            found = await look(id)
            left = last - clock.monotonic()
            if found.state in ENDED or left <= 0:
                return found
            await clock.wait(news, min(LOOK, left))
    finally:
        forget()
