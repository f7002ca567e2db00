"""Wake-ups between processes: LISTEN on a connection of its own, NOTIFY at a bounded rate.

A notification is a hint that shortens a rest. It is sent apart from the writes that it tells of,
since a commit that notifies takes a lock that all such commits share.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

import asyncpg

from tickwell.errors import TickwellError
from tickwell.stores.bell import Bell as AnyBell
from tickwell.stores.event_wait import comes
from tickwell.stores.notification_status import NotificationStatus
from tickwell.stores.postgres.database import Database
from tickwell.stores.postgres.errors import DRIVER, driver_message

#: How often loops are woken when nothing can be heard, and how long until listening is tried again.
POLL = 1.0
AGAIN = 10.0


class Bell(AnyBell):
    """Notifies on a connection of the pool."""

    trouble = (TickwellError,)

    def __init__(self, database: Database, sender: str) -> None:
        super().__init__()
        self.database = database
        self.sender = sender
        self.channel = database.location.channel

    async def send(self) -> None:
        await self.database.write_one(
            lambda session: session.connection.fetchval(
                "SELECT pg_notify($1, $2)", self.channel, self.sender
            )
        )


class Ear:
    """Hears the bells of other processes, or says that it cannot."""

    def __init__(self, database: Database, bell: Bell) -> None:
        self.database = database
        self.bell = bell
        self._heard = asyncio.Event()
        self._connection: asyncpg.Connection | None = None
        self._deaf_until = 0.0
        self._hearing = NotificationStatus(POLL)
        self._closed = asyncio.Event()

    @property
    def hears(self) -> bool:
        """Whether notifications arrive."""
        return self._connection is not None and not self._connection.is_closed()

    async def changed(self, seconds: float) -> bool:
        """Wait for another process's bell; where none can be heard, wake everybody regularly."""
        if self._closed.is_set():
            return False
        if not await self._listen():
            await comes(self._closed, min(seconds, POLL))
            return not self._closed.is_set()
        heard = await comes(self._heard, seconds)
        self._heard.clear()
        if not heard:
            await self._check()
        return heard and not self._closed.is_set()

    async def close(self) -> None:
        """Hear no more."""
        self._closed.set()
        self._heard.set()
        connection, self._connection = self._connection, None
        if connection is not None and not connection.is_closed():
            with suppress(*DRIVER):
                await connection.close(timeout=2)

    async def _listen(self) -> bool:
        if self.hears:
            return True
        loop = asyncio.get_running_loop()
        if loop.time() < self._deaf_until:
            return False
        why = "connections are shared between transactions"
        if not self.database.is_pooled:
            try:
                await self._connect()
            except DRIVER as error:
                why = driver_message(error) or "no answer in time"
            else:
                self._hearing.is_back(self.database.location.name)
                return True
        self._deaf_until = loop.time() + (AGAIN if not self.database.is_pooled else float("inf"))
        self._hearing.is_lost(self.database.location.name, why)
        return False

    async def _check(self) -> None:
        """Give up a connection that died without an error message: it would be silent for ever."""
        connection = self._connection
        if connection is None:
            return
        try:
            await connection.execute("SELECT 1", timeout=self.database.location.connect_timeout)
        except DRIVER:
            connection.terminate()

    async def _connect(self) -> None:
        connection = await self.database.connect()
        try:
            await connection.add_listener(self.bell.channel, self._hear)
        except BaseException:  # a replica refuses it
            connection.terminate()
            raise
        connection.add_termination_listener(lambda _: self._heard.set())
        self._connection = connection
        self._heard.set()  # what others wrote since the loops looked went unheard
        if self._closed.is_set():
            await self.close()

    def _hear(self, _connection: Any, _pid: int, _channel: str, sender: object) -> None:
        if sender != self.bell.sender:
            self._heard.set()
