"""Connections that are used again."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

from asyncmy.connection import Connection

from tickwell.stores.mysql.errors import DRIVER

#: Seconds after which an unused connection is asked whether it still stands.
IDLE = 1.0
#: Seconds that such an answer, or a goodbye, may take.
PATIENCE = 5.0


class Pool:
    """So many connections at most; the one used last is used first."""

    def __init__(self, connect: Callable[[], Awaitable[Connection]], most: int) -> None:
        self._connect = connect
        self._most = most
        self._room = asyncio.Semaphore(most)
        self._idle: list[Connection] = []
        self._is_closed = False

    async def take(self) -> Connection:
        """A connection that answers; to be given back, or dropped."""
        await self._room.acquire()
        try:
            while self._idle:
                connection = self._idle.pop()
                if await _stands(connection):
                    return connection
                connection.close()
            return await self._connect()
        except BaseException:
            self._room.release()
            raise

    def give_back(self, connection: Connection) -> None:
        """It is as it was."""
        if self._is_closed:
            connection.close()
        else:
            self._idle.append(connection)
        self._room.release()

    def drop(self, connection: Connection) -> None:
        """Nobody knows what the next answer on it would belong to, or whether there is one."""
        connection.close()
        self._room.release()

    async def close(self) -> None:
        """Let calls under way end, then let go of all connections."""
        try:
            async with asyncio.timeout(PATIENCE):
                for _ in range(self._most):
                    await self._room.acquire()
                for connection in self._idle:
                    with suppress(*DRIVER):
                        await connection.ensure_closed()
        except TimeoutError:
            pass  # what is under way lets go of its own
        self._is_closed = True
        for connection in self._idle:
            connection.close()
        self._idle.clear()


async def _stands(connection: Connection) -> bool:
    if asyncio.get_running_loop().time() - connection.last_usage < IDLE:
        return True
    try:
        async with asyncio.timeout(PATIENCE):
            await connection.ping(reconnect=False)
    except DRIVER:
        return False
    return True
