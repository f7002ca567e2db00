"""Prefixes for tests: each has keys of its own, emptied between tests."""

import redis

from tests.servers.redis import server


def url(prefix="tickwell", where=None):
    address = (where or server()).url
    return f"{address}{'&' if '?' in address else '?'}prefix={prefix}"


def client(where=None):
    """A connection beside the store's."""
    return redis.Redis.from_url((where or server()).url, protocol=2)


def empty(prefix="tickwell"):
    """Delete all keys of a prefix."""
    with client() as connection:
        keys = list(connection.scan_iter(f"{{{prefix}}}:*", count=1000))
        if keys:
            connection.unlink(*keys)
