"""The way to the server: scripts by name, on connections that are kept open."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff
from redis.exceptions import NoScriptError

from tickwell.errors import StoreError
from tickwell.stores.redis.errors import DRIVER, translate
from tickwell.stores.redis.scripts import script
from tickwell.stores.redis.url import Location

#: Sends a command and awaits its answer; the driver gives no types for it.
Command = Callable[..., Awaitable[Any]]


def connect(location: Location, most: int, timeout: float | None = None) -> Redis:
    """Connections to a server; nothing is sent yet.

    The driver repeats nothing by itself: a claim that is repeated has to say so.
    """
    pool = BlockingConnectionPool.from_url(
        location.dsn,
        max_connections=most,
        timeout=location.timeout,
        socket_timeout=location.timeout if timeout is None else timeout,
        socket_connect_timeout=min(location.connect_timeout, timeout or location.connect_timeout),
        retry=Retry(NoBackoff(), 0),
        protocol=2,
    )
    return Redis.from_pool(pool)


class Client:
    """Calls scripts. All of them are told the epoch, so that no call finds another store."""

    def __init__(self, location: Location) -> None:
        self.location = location
        self.epoch = ""
        self._epoch_key = location.key("epoch")
        self.redis = connect(location, location.pool)
        self.run: Command = self.redis.execute_command

    async def call(self, name: str, *arguments: str | int | bytes) -> Any:
        """Run a script; the server learns it when it does not know it yet."""
        known = script(name)
        given = 1, self._epoch_key, self.epoch, *arguments
        try:
            try:
                return await self.run("EVALSHA", known.digest, *given)
            except NoScriptError:
                return await self.run("EVAL", known.text, *given)
        except DRIVER as error:
            raise self.translate(error) from error

    async def command(self, *parts: str | int) -> Any:
        """Run a plain command."""
        try:
            return await self.run(*parts)
        except DRIVER as error:
            raise self.translate(error) from error

    async def close(self) -> None:
        """Let go of the connections."""
        await self.redis.aclose(close_connection_pool=True)

    def translate(self, error: BaseException) -> StoreError:
        """A driver's error in our words."""
        return translate(error, self.location.name)
