"""Several hosts: whichever of them is silent or gone, the primary is found."""

import asyncio
import socket
from contextlib import suppress

import pytest

from tests.servers.postgres import server
from tests.stores.postgres.test_refusals import refusal
from tickwell.errors import StoreUnavailable
from tickwell.stores.postgres import PostgresStore
from tickwell.stores.postgres.connection import Hosts
from tickwell.stores.postgres.url import parse


def with_host(host):
    """The URL of the tests' schema, with this host before the server's own."""
    return server().url.replace("@", f"@{host},") + "?schema=stores"


def taken(listener):
    """How many connections came in, of which nobody has heard since."""
    count = 0
    with suppress(BlockingIOError):
        while True:
            listener.accept()[0].close()
            count += 1
    return count


async def test_a_host_that_is_switched_off_takes_its_own_time_only(store):
    """Nothing is heard of it, not even that nobody listens there."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.setblocking(False)
        url = with_host(f"127.0.0.1:{silent.getsockname()[1]}")
        found = PostgresStore.from_url(url + "&connect_timeout=6")
        await found.open()
        assert taken(silent) == 1
        connection = await found.database.connect()
        await connection.close()
        assert taken(silent) == 0  # who answered is asked first
        await found.close()


async def test_who_gives_up_on_a_silent_host_asks_another_next():
    """A call may have less time than the host is given."""
    with socket.create_server(("127.0.0.1", 0)) as silent:
        silent.setblocking(False)
        hosts = Hosts(parse(with_host(f"127.0.0.1:{silent.getsockname()[1]}")).dsns)
        asking = asyncio.create_task(hosts.connect(timeout=60))
        asked, _ = await asyncio.get_running_loop().sock_accept(silent)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        asked.close()
        connection = await hosts.connect(timeout=60)
        await connection.close()
        assert taken(silent) == 0


@pytest.mark.parametrize("mode", ["prefer", "disable"])
async def test_a_host_that_hangs_up_is_passed_over(mode):
    """As what stands before a server does while it has none."""
    asked = []

    def hang_up(_, writer):
        asked.append(writer)
        writer.close()

    async with await asyncio.start_server(hang_up, "127.0.0.1", 0) as rude:
        port = rude.sockets[0].getsockname()[1]
        hosts = Hosts(parse(with_host(f"127.0.0.1:{port}") + f"&sslmode={mode}").dsns)
        connection = await hosts.connect(timeout=60)
        await connection.close()
        assert len(asked) == 1


async def test_a_host_that_is_gone_is_passed_over(store):
    found = PostgresStore.from_url(with_host("127.0.0.1:1"))
    await found.open()
    assert await found.ping() > 0
    await found.close()


async def test_hosts_that_are_all_gone():
    words = await refusal("postgresql://127.0.0.1:1,127.0.0.1:2/x", StoreUnavailable)
    assert "does not answer" in words
