"""The server of the proofs on MariaDB."""

import asyncio
from functools import cache
from pathlib import Path

from tests.processes.site import Site
from tests.servers.mariadb import Server, start
from tests.servers.mariadb_tables import empty, kill_connections


@cache
def durable() -> Server:
    """Of which nobody else wants anything."""
    return start()


def site_on_mysql(folder: Path, name: str) -> Site:
    """Tables of its own for a proof."""
    prefix = name.replace("-", "_") + "_"
    asyncio.run(empty(prefix, at=durable()))
    return Site(folder, f"{durable().url}?prefix={prefix}")


def cut_connections() -> int:
    """End all connections but the one that asks for it; how many there were."""
    return int(asyncio.run(kill_connections(at=durable())))


def crash() -> None:
    """-9 for the server, which comes back with what it has acknowledged."""
    durable().kill()
    durable().run()
