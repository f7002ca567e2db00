"""Wake-ups between processes: PUBLISH at a bounded rate, SUBSCRIBE on a connection of its own.

A notification is a hint that shortens a rest; what is lost costs a poll, and nothing else.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import Any

from redis.asyncio import Redis

from tickwell.stores.redis.client import Command, connect
from tickwell.stores.redis.errors import DRIVER, said
from tickwell.stores.redis.url import Location

#: Seconds: what is written together is told once, and then not again for a while.
GATHER = 0.005
APART = 0.05
#: How often loops are woken when nothing can be heard, and how long until listening is tried again.
POLL = 1.0
AGAIN = 5.0
#: How long the server may take to answer before it counts as gone.
PATIENCE = 2.0

log = logging.getLogger("tickwell.stores.redis")


class Bell:
    """Tells other processes that something was written."""

    def __init__(self, run: Command, channel: str, sender: str) -> None:
        self.run = run
        self.channel = channel
        self.sender = sender
        self._task: asyncio.Task[None] | None = None
        self._rung = False

    def ring(self) -> None:
        """Tell soon; ringing again before that is the same ring."""
        self._rung = True
        if self._task is None or self._task.done():
            self._task = asyncio.get_running_loop().create_task(self._send())

    async def close(self) -> None:
        """Send what is due, and no more."""
        task, self._task = self._task, None
        if task is not None:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if self._rung:
                await self._notify()

    async def _send(self) -> None:
        await rest(GATHER)
        while self._rung:
            await self._notify()
            await rest(APART)

    async def _notify(self) -> None:
        self._rung = False
        with suppress(*DRIVER):  # a hint; who needs it polls
            await self.run("PUBLISH", self.channel, self.sender)


class Ear:
    """Hears the bells of other processes, or says that it cannot."""

    def __init__(self, location: Location, channel: str, sender: str) -> None:
        self.location = location
        self.channel = channel
        self.sender = sender
        self._redis: Redis | None = None
        self._pubsub: Any = None
        self._deaf_until = 0.0
        self._closed = asyncio.Event()

    @property
    def hears(self) -> bool:
        """Whether notifications arrive."""
        return self._pubsub is not None

    async def changed(self, seconds: float) -> bool:
        """Wait for another process's bell; where none can be heard, wake everybody regularly."""
        if self._closed.is_set():
            return False
        if not await self._listen():
            with suppress(TimeoutError):
                async with asyncio.timeout(min(seconds, POLL)):
                    await self._closed.wait()
            return not self._closed.is_set()
        try:
            return await self._heard(seconds)
        except DRIVER:
            await self._let_go()
            return not self._closed.is_set()

    async def close(self) -> None:
        """Hear no more."""
        self._closed.set()
        await self._let_go()

    async def _heard(self, seconds: float) -> bool:
        loop = asyncio.get_running_loop()
        end = loop.time() + seconds
        while not self._closed.is_set() and (left := end - loop.time()) > 0:
            message = await self._pubsub.get_message(ignore_subscribe_messages=True, timeout=left)
            if message is not None and message["data"] != self.sender.encode():
                await self._drink()
                return True
        return not await self._answers()

    async def _answers(self) -> bool:
        """Whether the connection lives: one that died without a word would be silent for ever."""
        if self._closed.is_set():
            return True
        async with asyncio.timeout(PATIENCE):
            await self._pubsub.ping()
            while (message := await self._pubsub.get_message(timeout=PATIENCE)) is None:
                pass
        return bool(message["type"] == "pong")

    async def _drink(self) -> None:
        """What was told meanwhile is told with this one."""
        while await self._pubsub.get_message(ignore_subscribe_messages=True, timeout=0):
            pass

    async def _listen(self) -> bool:
        if self.hears:
            return True
        loop = asyncio.get_running_loop()
        if loop.time() < self._deaf_until:
            return False
        try:
            async with asyncio.timeout(PATIENCE):
                await self._connect()
        except DRIVER as error:
            await self._let_go()
            self._deaf_until = loop.time() + AGAIN
            log.warning(
                "%s cannot be listened to (%s): looking every %g s instead",
                self.location.name,
                said(error),
                POLL,
            )
            return False
        return True

    async def _connect(self) -> None:
        self._redis = connect(self.location, 1)
        pubsub = self._redis.pubsub()
        await pubsub.subscribe(self.channel)
        while await pubsub.get_message(timeout=PATIENCE) is None:  # until it is confirmed
            pass
        self._pubsub = pubsub

    async def _let_go(self) -> None:
        pubsub, self._pubsub = self._pubsub, None
        redis, self._redis = self._redis, None
        with suppress(*DRIVER):
            if pubsub is not None:
                await pubsub.aclose()
            if redis is not None:
                await redis.aclose(close_connection_pool=True)


async def rest(seconds: float) -> None:
    """A pause that nobody can end."""
    with suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await asyncio.Event().wait()
