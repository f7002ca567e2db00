"""The server of the proofs on MongoDB: a standalone one, with a journal."""

from functools import cache
from pathlib import Path

from tests.processes.site import Site
from tests.servers.mongo import Server, start


@cache
def durable() -> Server:
    """Of which nobody else wants anything."""
    return start()


def site_on_mongo(folder: Path, name: str) -> Site:
    """A database of its own for a proof."""
    with durable().client() as client:
        client.drop_database(name)
    return Site(folder, durable().url(name))


def crash() -> None:
    """-9 for the server, which comes back with what it has acknowledged."""
    durable().kill()
    durable().start()
