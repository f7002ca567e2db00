"""What the tests of Celery as the engine share."""

import pytest

from tests.celery.crew import crew_on
from tests.processes.child import family
from tests.processes.site import Site
from tests.servers import redis


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


@pytest.fixture
def broker():
    """A Redis of the test's own, which it may kill."""
    server = redis.start("--appendonly", "yes", "--appendfsync", "everysec")
    yield server
    server.stop()


@pytest.fixture
def crew(site, broker):
    with family() as processes, crew_on(site, broker.url, processes) as made:
        yield made
