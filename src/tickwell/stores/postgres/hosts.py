"""Several hosts, of which one is the primary: who answered last is asked first."""

from __future__ import annotations

import asyncio
from typing import Any

import asyncpg

from tickwell.stores.postgres.connection import Connection

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
