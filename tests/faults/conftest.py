"""What the fault tests share: a place for each, and processes that do not outlive it."""

import pytest

from tests.processes.child import family
from tests.processes.site import Site


@pytest.fixture
def site(tmp_path):
    return Site(tmp_path)


@pytest.fixture
def processes():
    with family() as made:
        yield made
