"""Prefixes for tests: each has keys of its own, emptied between tests."""

from typing import Any

import redis

from tests.servers.redis import server


def url(prefix="tickwell", where=None):
    address = (where or server()).url
    return f"{address}{'&' if '?' in address else '?'}prefix={prefix}"


def client(where: Any = None) -> redis.Redis:
    """A connection beside the store's."""
    return redis.Redis.from_url((where or server()).url, protocol=2, socket_timeout=None)


def empty(prefix: str = "tickwell", where: Any = None) -> None:
    """Delete all keys of a prefix."""
    with client(where) as connection:
        keys = list(connection.scan_iter(f"{{{prefix}}}:*", count=1000))
        if keys:
            connection.unlink(*keys)
