"""Pauses: one that nobody can end, and one that an event ends."""

from __future__ import annotations

import asyncio


async def rest(seconds: float) -> None:
    """A pause that nobody can end."""
    await comes(asyncio.Event(), seconds)


async def comes(event: asyncio.Event, seconds: float) -> bool:
    """Wait for an event, so long at most; whether it came."""
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
