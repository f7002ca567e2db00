"""Connections to a Redis server."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from redis.asyncio import BlockingConnectionPool, Redis
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from tickwell.stores.redis.url import Location

#: Sends a command and awaits its answer; the driver gives no types for it.
Command = Callable[..., Awaitable[Any]]


def connect(location: Location, most: int, timeout: float | None = None) -> Redis:
    """A pool of at most `most` connections; nothing is sent yet.

    The driver retries nothing by itself: a claim that is repeated has to say so.
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
