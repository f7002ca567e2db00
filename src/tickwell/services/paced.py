"""Long work in parts, between which others have their turn: a fire is not late for a long list."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

T = TypeVar("T")

#: Of what takes some ten microseconds each.
_PART = 200
#: Seconds after which a part ends, however few it has: a fire time that is hard to find takes
#: a thousand times as long as an easy one.
_LONG = 0.005


async def paced(items: Iterable[T]) -> AsyncIterator[T]:
    """The same items; where they are made one by one, so is the work."""
    time = asyncio.get_running_loop().time
    begun, count = time(), 0
    for item in items:
        yield item
        count += 1
        if count == _PART or time() - begun > _LONG:
            await asyncio.sleep(0)  # noqa: TID251 - no time passes
            begun, count = time(), 0
    if time() - begun > _LONG:
        await asyncio.sleep(0)  # noqa: TID251 - no time passes
