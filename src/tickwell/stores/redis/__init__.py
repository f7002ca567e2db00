"""The store on Redis: one script for each operation."""

from tickwell.stores.redis.store import RedisStore

__all__ = ["RedisStore"]
