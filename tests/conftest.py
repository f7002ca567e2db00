"""What every test shares: reproducible hypothesis runs and a quiet asyncio."""

import logging
import os

from hypothesis import settings

from tests.servers.private import stop_all

# The same examples in every run, and no deadline: a busy machine is no failure.
settings.register_profile("ci", derandomize=True, deadline=None)
# Looks for new failures: HYPOTHESIS_PROFILE=explore ./run test tests/property
settings.register_profile("explore", deadline=None, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# "Using selector: EpollSelector" in the report of every failed test helps nobody.
logging.getLogger("asyncio").setLevel(logging.WARNING)


def pytest_sessionfinish():
    """Servers that tests started for themselves go with them, whatever became of the tests."""
    stop_all()
