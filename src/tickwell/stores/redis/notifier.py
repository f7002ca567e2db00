"""Wake-ups between processes: PUBLISH at a bounded rate, SUBSCRIBE on a separate connection.

A notification is a hint that shortens a wait; a lost one costs a poll, and nothing else.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Any

from redis.asyncio import Redis

from tickwell.stores.bell import Bell as AnyBell
from tickwell.stores.event_wait import comes
from tickwell.stores.notification_status import NotificationStatus
from tickwell.stores.redis.connection import Command, connect
from tickwell.stores.redis.errors import DRIVER, driver_message
from tickwell.stores.redis.url import Location

#: Seconds between polls while not subscribed, and until the next try to subscribe.
POLL = 1.0
RETRY = 5.0
#: Seconds that the server may take to answer before the connection counts as dead.
TIMEOUT = 2.0


class Bell(AnyBell):
    """Publishes on a channel."""

    trouble = DRIVER

    def __init__(self, run: Command, channel: str, sender: str) -> None:
        super().__init__()
        self.run = run
        self.channel = channel
        self.sender = sender

    async def send(self) -> None:
        await self.run("PUBLISH", self.channel, self.sender)


class Ear:
    """Listens for the bells of other processes; falls back to polling."""

    def __init__(self, location: Location, channel: str, sender: str) -> None:
        self.location = location
        self.channel = channel
        self.sender = sender.encode()
        self._heard = asyncio.Event()
        self._pong = asyncio.Event()
        self._redis: Redis | None = None
        self._pubsub: Any = None
        self._reading: asyncio.Task[None] | None = None
        self._retry_at = 0.0
        self._hearing = NotificationStatus(POLL)
        self._closed = asyncio.Event()

    @property
    def hears(self) -> bool:
        """Whether notifications arrive."""
        return self._reading is not None and not self._reading.done()

    async def changed(self, seconds: float) -> bool:
        """Wait for another process's bell; without a subscription, wake the loops regularly."""
        if self._closed.is_set():
            return False
        if not await self._listen():
            await comes(self._closed, min(seconds, POLL))
            return not self._closed.is_set()
        heard = await comes(self._heard, seconds) or not await self._is_alive()
        self._heard.clear()
        return heard and not self._closed.is_set()

    async def close(self) -> None:
        """Stop listening."""
        self._closed.set()
        self._heard.set()
        await self._disconnect()

    async def _is_alive(self) -> bool:
        """Whether the connection is alive; a dead one would stay silent forever, so close it."""
        self._pong.clear()
        with suppress(*DRIVER):
            async with asyncio.timeout(TIMEOUT):
                await self._pubsub.ping()
                await self._pong.wait()
                return True
        await self._disconnect()
        return False

    async def _listen(self) -> bool:
        if self.hears:
            return True
        loop = asyncio.get_running_loop()
        if loop.time() < self._retry_at:
            return False
        await self._disconnect()
        try:
            async with asyncio.timeout(TIMEOUT):
                await self._connect()
        except DRIVER as error:
            await self._disconnect()
            self._retry_at = loop.time() + RETRY
            self._hearing.is_lost(self.location.name, driver_message(error) or "no answer in time")
            return False
        self._hearing.is_back(self.location.name)
        return True

    async def _connect(self) -> None:
        self._redis = connect(self.location, 1)
        self._pubsub = self._redis.pubsub()
        await self._pubsub.subscribe(self.channel)
        await self._pubsub.get_message(timeout=TIMEOUT)  # the confirmation
        self._reading = asyncio.get_running_loop().create_task(self._read())
        self._heard.set()  # writes since the loops last looked were missed

    async def _read(self) -> None:
        """Listen until the connection ends, which wakes the loops as well."""
        try:
            while True:
                message = await self._pubsub.get_message(timeout=None)
                if message is None:
                    continue
                if message["type"] == "pong":
                    self._pong.set()
                elif message["type"] == "message" and message["data"] != self.sender:
                    self._heard.set()
        except DRIVER:
            self._heard.set()

    async def _disconnect(self) -> None:
        reading, self._reading = self._reading, None
        pubsub, self._pubsub = self._pubsub, None
        redis, self._redis = self._redis, None
        if reading is not None:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)
        with suppress(*DRIVER):
            if pubsub is not None:
                await pubsub.aclose()
        with suppress(*DRIVER):
            if redis is not None:
                await redis.aclose(close_connection_pool=True)
