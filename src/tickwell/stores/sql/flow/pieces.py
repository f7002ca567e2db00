"""Many rows in pieces: what else is on the event loop has its turn between two of them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import Generic, TypeVar

T = TypeVar("T")

#: What is due meanwhile is late by as long as a piece takes, and by what else is ready. 50 jobs
#: are planned in 1.2 ms in the mean (CPU), 25 in 0.6; all 500 in 15.
PIECE = 25


def in_pieces(rows: Sequence[T]) -> AsyncIterator[Sequence[T]]:
    """Parts of them, in order."""
    return _Pieces(rows)


class _Pieces(Generic[T]):
    """No generator: left in its midst by an error, that is closed by a task after everybody's."""

    __slots__ = ("_begin", "_rows")

    def __init__(self, rows: Sequence[T]) -> None:
        self._rows = rows
        self._begin = 0

    def __aiter__(self) -> _Pieces[T]:
        return self

    async def __anext__(self) -> Sequence[T]:
        begin, self._begin = self._begin, self._begin + PIECE
        if begin >= len(self._rows):
            raise StopAsyncIteration
        if begin:
            await asyncio.sleep(0)  # noqa: TID251 - no time passes
        return self._rows[begin : begin + PIECE]
