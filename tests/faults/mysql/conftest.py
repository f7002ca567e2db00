"""The same faults, and those of a server and the way to it, on MariaDB."""

import asyncio

import pytest

from tests.processes.site import Site
from tests.proxy.proxy import proxied
from tests.servers.mariadb import start
from tests.servers.mariadb_tables import empty


@pytest.fixture(scope="session")
def victim():
    """Of which nobody else wants anything: killed, and started again."""
    return start()


@pytest.fixture
def server(victim):
    asyncio.run(empty(at=victim))
    return victim


@pytest.fixture
def site(tmp_path, server):
    return Site(tmp_path, server.url)


@pytest.fixture
def proxy(site, server):
    """Between the server and the processes of the site; what the test asks goes past it."""
    with proxied(server.port) as made:
        site.way = site.store.replace(f":{server.port}/", f":{made.port}/")
        yield made
