"""The same faults, and those of a server and the way to it, on PostgreSQL."""

import pytest

from tests.faults.postgres.victim import victim
from tests.processes.site import Site
from tests.proxy.proxy import proxied

SCHEMA = "faults"


@pytest.fixture
def server():
    return victim()


@pytest.fixture
def site(tmp_path, server):
    server.ask(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE")
    return Site(tmp_path, f"{server.url}?schema={SCHEMA}")


@pytest.fixture
def proxy(site, server):
    """Between the server and the processes of the site; what the test asks goes past it."""
    with proxied(server.port) as made:
        site.way = site.store.replace(f":{server.port}/", f":{made.port}/")
        yield made
