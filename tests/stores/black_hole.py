"""Calls that are given up, one after the other, while nothing passes on the way to a server."""

import asyncio
from contextlib import suppress
from pathlib import Path
from urllib.parse import urlsplit

from tests.proxy.proxy import proxied
from tickwell.errors import StoreError
from tickwell.wiring import make_store

CALLS = 40
#: What a store may have open when all calls so far were given up: one that is being dialled, those
#: that look after the server, and none for each call.
FEW = 8


async def most_sockets(url):
    """How many sockets the store had open at most."""
    port, most = urlsplit(url).port, 0
    with proxied(port) as proxy:
        store = make_store(url.replace(f":{port}", f":{proxy.port}"))
        await store.open()
        proxy.stall()
        for _ in range(CALLS):
            with suppress(TimeoutError, StoreError):
                async with asyncio.timeout(0.02):
                    await store.ping()
            await asyncio.sleep(0)  # what was closed is closed in the next round
            most = max(most, sockets_to(proxy.port))
        proxy.heal()
        await store.close()
    return most


def sockets_to(port):
    """Sockets of this process, and no others, that are open to a port of this machine."""
    lines = Path("/proc/self/net/tcp").read_text().splitlines()[1:]
    fields = [line.split() for line in lines]
    # One that was closed and is still being said goodbye to has no inode.
    return sum(each[2].endswith(f":{port:04X}") and each[9] != "0" for each in fields)
