"""The server of the proofs on Redis: it writes everything before it answers."""

from functools import cache
from pathlib import Path

from tests.processes.site import Site
from tests.servers.redis import Server, start
from tests.servers.redis_keys import client


@cache
def durable() -> Server:
    return start("--appendonly", "yes", "--appendfsync", "always")


def site_on_redis(folder: Path, name: str) -> Site:
    """A prefix of its own for a proof."""
    return Site(folder, f"{durable().url}?prefix={name}")


def cut_connections() -> int:
    """End all connections but the one that asks for it; how many there were."""
    with client(durable()) as keys:
        kinds = ("normal", "pubsub")
        ended = [keys.execute_command("CLIENT", "KILL", "TYPE", kind) for kind in kinds]
    return sum(map(int, ended))


def crash() -> None:
    """-9 for the server, which comes back with what it has acknowledged."""
    durable().kill()
    durable().run()
