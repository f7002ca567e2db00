"""What every test shares: reproducible hypothesis runs and a quiet asyncio."""

import logging
import os
import random
import signal

from hypothesis import HealthCheck, settings

from tests.servers.data_folder import memory
from tests.servers.private import stop_all

# The same examples in every run, however long they take: a busy machine is no failure.
PATIENT = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", PATIENT, derandomize=True)
# Looks for new failures: HYPOTHESIS_PROFILE=explore ./run test tests/property
settings.register_profile("explore", PATIENT, max_examples=2000, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))

# Shells without job control make what they start in the background deaf to Ctrl-C, and with it all
# processes under test.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# A shell that works with a real store must not lead tests, which write and delete, to it.
for name in [each for each in os.environ if each.startswith("TICKWELL_")]:
    if not name.startswith("TICKWELL_TEST_"):
        del os.environ[name]

# "Using selector: EpollSelector" in the report of every failed test helps nobody.
logging.getLogger("asyncio").setLevel(logging.WARNING)

# What `tmp_path` gives is in memory as well: each commit of SQLite waits for its file.
if (quick := memory()) is not None:
    os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", str(quick))


#: Files that take longest, the longest first.
LONGEST = (
    "variants/test_variants.py",
    "celery/test_engine.py",
    "cli/test_serve.py",
    "testing/test_verify.py",
    "stores/mongo/test_cut.py",
    "contract/test_mongo.py",
    "library/web/test_servers.py",
    "faults/test_poison.py",
    "ui/test_pages.py",
    "docs/test_code.py",
    "property/model/test_sqlite.py",
    "faults/test_kill_sweep.py",
    "simulation/test_swarm.py",
)
#: Their tests wait for processes, leases and servers most of the time.
WAITING = ("/tests/faults/", "/tests/celery/", "/tests/celery_beat/")


#: TEST_ORDER=7 ./run test: every file's tests, and all files, shuffled by this seed.
SHUFFLED = os.environ.get("TEST_ORDER")


def pytest_collection_modifyitems(items):
    """Long files first, so that no worker ends long after the others; then a good mixture.

    Files that wait are spread evenly among those that compute: two of them at once would leave a
    processor idle.
    """
    if SHUFFLED is not None:
        random.Random(SHUFFLED).shuffle(items)
    files = list(dict.fromkeys(item.path.as_posix() for item in items))
    long = [file for name in LONGEST for file in files if file.endswith(name)]
    rest = [file for file in files if file not in long]
    waiting = [file for file in rest if any(folder in file for folder in WAITING)]
    computing = [file for file in rest if file not in waiting]
    mixed = sorted((*_spread(waiting), *_spread(computing)))
    # A file's tests stay together, and with them the fixtures that they share.
    order = {file: rank for rank, file in enumerate([*long, *(file for _, file in mixed)])}
    items.sort(key=lambda item: order[item.path.as_posix()])


def _spread(files):
    """Files with positions between 0 and 1, at even distances."""
    return [((number + 0.5) / len(files), file) for number, file in enumerate(files)]


def pytest_sessionfinish():
    """Servers that tests started for themselves go with them, whatever became of the tests."""
    stop_all()
