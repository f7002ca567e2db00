"""What is done past the service stands in its audit log too."""

import asyncio
import random

from tickwell.cli.config.configuration import configure
from tickwell.cli.connection.store_connection import StoreConnection
from tickwell.services.audit.audit import Audit
from tickwell.services.keyring.source import load_keys


async def entries():
    backend = StoreConnection(configure().settings, "default")
    await backend.open()
    keyring = load_keys(backend.settings, make=False)
    assert keyring is not None
    audit = Audit(backend.store, backend.clock, random.Random(1), keyring)
    page = await audit.list(backend.actor)
    await backend.close()
    return [(entry.actor, entry.action) for entry in page.items]


def test_every_change_is_written_down_once(tickwell):
    tickwell("jobs", "add", "before", "--every", "5m", "--call", "x")  # there is no log yet
    load_keys(configure().settings, make=True)
    tickwell("jobs", "add", "x", "--every", "5m", "--call", "x")
    tickwell("jobs", "pause", "x")
    tickwell("jobs", "list")
    tickwell("jobs", "rm", "x", "--yes")
    found = asyncio.run(entries())
    assert [action for _, action in found] == ["job.delete", "job.pause", "job.create"]
    assert all(actor.startswith("local:") for actor, _ in found)
