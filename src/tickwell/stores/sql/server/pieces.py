"""Many rows in pieces: what else is on the event loop has its turn between two of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import TypeVar

T = TypeVar("T")

#: Whoever is due meanwhile is late by as long as a piece takes, and by what else is ready. 50 jobs
#: are planned in 1.2 ms in the mean (CPU), 25 in 0.6; all 500 in 15.
PIECE = 25


async def in_pieces(rows: Sequence[T]) -> AsyncIterator[Sequence[T]]:
    """Parts of them, in order."""
    for begin in range(0, len(rows), PIECE):
        if begin:
            await asyncio.sleep(0)  # noqa: TID251 - no time passes
        yield rows[begin : begin + PIECE]
