"""The same faults, and those of a server and the way to it, on Redis that writes everything."""

import pytest

from tests.processes.site import Site
from tests.proxy.proxy import proxied
from tests.servers.redis import start
from tests.servers.redis_keys import client


@pytest.fixture(scope="session")
def durable():
    return start("--appendonly", "yes", "--appendfsync", "always")


@pytest.fixture
def server(durable):
    """Of which nobody else wants anything: killed, frozen, and started again."""
    with client(durable) as keys:
        keys.flushall()
    return durable


@pytest.fixture
def site(tmp_path, server):
    return Site(tmp_path, server.url)


@pytest.fixture
def proxy(site, server):
    """Between the server and the processes of the site; what the test asks goes past it."""
    with proxied(server.port) as made:
        site.way = site.store.replace(f":{server.port}/", f":{made.port}/")
        yield made
