"""Long work in parts, between which others have their turn: a fire is not late for a long list."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Iterable
from typing import TypeVar

T = TypeVar("T")

#: Of what takes some ten microseconds each.
_PART = 200
#: Seconds after which a part ends, however few it has: a fire time that is hard to find takes
#: a thousand times as long as an easy one.
_LONG = 0.005


class Pace:
    """For a plain loop over many cheap items: `cooperatively` costs half a microsecond for each."""

    __slots__ = ("_begun", "_time")

    def __init__(self) -> None:
        self._time = asyncio.get_running_loop().time
        self._begun = self._time()

    def is_long(self) -> bool:
        """Whether others have waited long enough."""
        return self._time() - self._begun > _LONG

    async def rest(self) -> None:
        """Let them have their turn."""
        await asyncio.sleep(0)  # noqa: TID251 - no time passes
        self._begun = self._time()


#: How many are paced just now: parts are shorter then, since each has its turn before others have
#: theirs. Twenty that one person asked for at once held everybody up for seconds.
_under_way: Counter[asyncio.AbstractEventLoop] = Counter()


async def cooperatively(items: Iterable[T]) -> AsyncIterator[T]:
    """The same items; where they are made one by one, so is the work."""
    loop = asyncio.get_running_loop()
    time, begun, count = loop.time, loop.time(), 0
    _under_way[loop] += 1
    try:
        for item in items:
            yield item
            count += 1
            several = _under_way[loop]
            if count * several >= _PART or (time() - begun) * several > _LONG:
                await asyncio.sleep(0)  # noqa: TID251 - no time passes
                begun, count = time(), 0
    finally:
        _under_way[loop] -= 1
        if not _under_way[loop]:
            del _under_way[loop]
    if time() - begun > _LONG:
        await asyncio.sleep(0)  # noqa: TID251 - no time passes
