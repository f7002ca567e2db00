"""What every test shares: reproducible hypothesis runs and a quiet asyncio."""

import logging
import os
import random

from hypothesis import HealthCheck, settings

from tests.servers.private import stop_all

# The same examples in every run, however long they take: a busy machine is no failure.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", PATIENT, derandomize=True)
# Looks for new failures: HYPOTHESIS_PROFILE=explore ./run test tests/property
settings.register_profile("explore", PATIENT, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# "Using selector: EpollSelector" in the report of every failed test helps nobody.
logging.getLogger("asyncio").setLevel(logging.WARNING)


#: Files of more than a minute, the longest first.
LONGEST = (
    "testing/test_verify.py",
    "stores/mongo/test_model.py",
    "variants/test_variants.py",
    "property/model/test_sqlite.py",
    "faults/test_kill_sweep.py",
    "simulation/test_swarm.py",
)


#: TEST_ORDER=7 ./run test: every file's tests, and all files, shuffled by this seed.
SHUFFLED = os.environ.get("TEST_ORDER")


def pytest_collection_modifyitems(items):
    """Long files first: beside others they cost little, at the end all would wait for them."""
    if SHUFFLED is not None:
        random.Random(SHUFFLED).shuffle(items)
        # A file's tests stay together, and with them the fixtures that they share.
        files = list(dict.fromkeys(item.path for item in items))
        items.sort(key=lambda item: files.index(item.path))
    items.sort(key=lambda item: _rank(item.path.as_posix()))


def _rank(path):
    ranks = [rank for rank, name in enumerate(LONGEST) if path.endswith(name)]
    return ranks[0] if ranks else len(LONGEST)


def pytest_sessionfinish():
    """Servers that tests started for themselves go with them, whatever became of the tests."""
    stop_all()
