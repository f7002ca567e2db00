"""Waits that an event ends, and pauses that nothing ends."""

from __future__ import annotations

import asyncio


async def rest(seconds: float) -> None:
    """A pause of this length, which nothing ends."""
    await comes(asyncio.Event(), seconds)


async def comes(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, up to a number of seconds; whether it came."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
