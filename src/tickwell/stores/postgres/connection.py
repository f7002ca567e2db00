"""A connection that learns the types of arrays when a statement first has one."""

from __future__ import annotations

import asyncio
import re
from functools import cache
from typing import Any

import asyncpg

#: Arrays that the driver has to ask the server about; it knows those of texts.
_ARRAY = re.compile(r"\$\d+::(?!text)\w+\[\]")


@cache
def has_arrays(statement: str) -> bool:
    """Whether an array is sent as the driver writes it."""
    return _ARRAY.search(statement) is not None


class Connection(asyncpg.Connection):  # type: ignore[misc]
    """Claims, ends and beats have no arrays: a process that only works never asks."""

    has_learned = False

    async def learn(self) -> None:
        """Have the driver look up all types of arrays at once, instead of one after another.

        That takes the server 8 ms, four times as long as connecting.
        """
        if self.has_learned:
            return
        self.has_learned = True
        await self.execute(
            "SELECT $1::uuid[], $2::smallint[], $3::integer[], $4::bigint[], $5::boolean[]",
            *([], [], [], [], []),
        )


#: Another host may be the one.
_NEXT = (
    OSError,
    asyncpg.CannotConnectNowError,
    asyncpg.ConnectionDoesNotExistError,
    asyncpg.TargetServerAttributeNotMatched,
)


class Hosts:
    """Each is given its time: of a host that is switched off nobody hears anything.

    The driver has one time for all of them, which the first such host takes up.
    """

    def __init__(self, dsns: tuple[str, ...]) -> None:
        self._dsns = dsns

    async def connect(self, *_: None, **options: Any) -> Connection:
        """A connection to the first that will do; raises what is wrong with the last."""
        *others, last = self._dsns
        for dsn in others:
            try:
                return await self._connect(dsn, options)
            except _NEXT:
                continue
        return await self._connect(last, options)

    async def _connect(self, dsn: str, options: dict[str, Any]) -> Connection:
        try:
            connection: Connection = await asyncpg.connect(dsn, **options)
        except (*_NEXT, asyncio.CancelledError):
            # Who has less patience than a silent host's time would never get to the next.
            self._dsns = (*self._but(dsn), dsn)
            raise
        self._dsns = (dsn, *self._but(dsn))
        return connection

    def _but(self, dsn: str) -> list[str]:
        return [other for other in self._dsns if other != dsn]
