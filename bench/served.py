"""Stores that are servers: started for the measurements, durable as they come."""

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from itertools import count
from typing import Any, ClassVar

from bench.child import run_module
from tests.servers import mariadb, mariadb_tables, mongo, redis, redis_keys
from tests.servers.postgres import server as postgres_server


class Served:
    """A place of a server for each measurement."""

    name: ClassVar[str]
    #: What ratios have to reach or to stay under, by case; no entry: informative.
    bars: ClassVar[dict[str, float]]
    #: The module that drains by nothing but the driver.
    loop: ClassVar[str]

    def __init__(self) -> None:
        self._numbers = count()

    @contextmanager
    def empty(self) -> Iterator[str]:
        """Where a new store is for one measurement."""
        where = self.place(f"bench{next(self._numbers)}")
        yield where
        self.drop(where)

    @contextmanager
    def full(self, runs: int) -> Iterator[str]:
        """Where a store is that has so many requested runs."""
        with self.empty() as where:
            run_module("bench.ours.enqueue", where, runs)
            self.tidy(where)
            yield where

    @lru_cache  # noqa: B019 - there is one of each
    def resting(self, jobs: int) -> str:
        """Where a store is that has so many jobs of which none is due for months."""
        where = self.place(f"resting{jobs}")
        run_module("bench.ours.register", where, jobs)
        self.tidy(where)
        return where

    def bare(self, where: str, *way: str) -> dict[str, float]:
        """Drain it by the bare loop."""
        answer: dict[str, float] = run_module(self.loop, *address(where), *way)
        return answer

    def place(self, name: str) -> str:
        """Where something of this name is kept."""
        raise NotImplementedError

    def tidy(self, where: str) -> None:
        """Have the server come to rest after much was written."""

    def drop(self, where: str) -> None:
        """Take away what a measurement leaves."""
        raise NotImplementedError


class Postgres(Served):
    """Schemas."""

    name = "PostgreSQL"
    bars: ClassVar = {
        "drain": 0.7,
        "pgqueuer": 1.4,
        "two": 1.2,
        "cron": 0.25,
        "once": 0.25,
        "scale": 1.3,
    }
    loop = "bench.limits.postgres_loop"

    def place(self, name: str) -> str:
        return f"{postgres_server(on_disk=True).url}?schema={name}"

    def tidy(self, where: str) -> None:
        run_module("bench.schema", *address(where), "tidy")

    def drop(self, where: str) -> None:
        run_module("bench.schema", *address(where), "drop")


class Mysql(Served):
    """Tables that begin alike, in a server with room for a million jobs."""

    name = "MariaDB"
    bars: ClassVar = {"drain": 0.5, "cron": 0.5, "scale": 1.3}
    loop = "bench.limits.mysql_loop"

    @property
    def server(self) -> Any:
        return mariadb.server("--innodb-buffer-pool-size=1G", on_disk=True)

    def place(self, name: str) -> str:
        return f"{self.server.url}?prefix={name}_"

    def drop(self, where: str) -> None:
        prefix = address(where)[1]
        asyncio.run(mariadb_tables.drop(prefix, at=self.server))


class Mongo(Served):
    """Databases of a standalone server."""

    name = "MongoDB"
    bars: ClassVar = {"drain": 0.5, "cron": 0.5, "scale": 1.3}
    loop = "bench.limits.mongo_loop"

    @property
    def server(self) -> Any:
        return mongo.server(gigabytes=2.0, on_disk=True)

    def place(self, name: str) -> str:
        return str(self.server.url(name))

    def tidy(self, where: str) -> None:
        with self.server.client() as client:
            client.admin.command("fsync")

    def drop(self, where: str) -> None:
        with self.server.client() as client:
            client.drop_database(where.rpartition("/")[2])


class Redis(Served):
    """Prefixes of a server with an append-only file, which is written every second."""

    name = "Redis"
    bars: ClassVar = {"drain": 0.5, "dramatiq": 2.0, "cron": 0.5, "scale": 1.3}
    loop = "bench.limits.redis_loop"

    @property
    def server(self) -> Any:
        return redis.server("--appendonly", "yes", "--appendfsync", "everysec")

    def place(self, name: str) -> str:
        return f"{self.server.url}?prefix={name}"

    def tidy(self, where: str) -> None:
        """Until the file has been written anew, should it have grown that much."""
        with redis_keys.client(self.server) as client:
            while client.info("persistence")["aof_rewrite_in_progress"]:
                time.sleep(0.1)

    def drop(self, where: str) -> None:
        redis_keys.empty(address(where)[1], self.server)


def address(where: str) -> tuple[str, str]:
    """The URL of a database, and the schema or the prefix in it, if there is one."""
    url, _, inside = where.partition("?")
    return url, inside.partition("=")[2]
