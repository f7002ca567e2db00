"""Ten thousand fires at one instant, and several processes that all want them."""

from collections import Counter

import pytest

from tests.processes.jobs import RUN_ALL, job, once
from tests.processes.site import STEADY
from tickwell.clock import wall_millis
from tickwell.settings import Settings

FIRES = 10_000


@pytest.mark.parametrize("count", [2, 4])
def test_each_fire_is_run_once_and_every_process_helps(site, processes, count):
    started = [processes.begin(site.orders(settings=STEADY)) for _ in range(count)]
    for process in started:
        process.wait_for("Started")
    now = wall_millis()
    at = now + 8000
    names = [f"job-{number}" for number in range(FIRES)]
    site.add(
        *(job(name, "count", once(at), now, misfire=RUN_ALL) for name in names),
        fires={name: [at] for name in names},
    )
    site.wait_until_quiet()
    history = site.judge()
    assert len(history.rows) == len(history.calls) == FIRES
    shares = Counter(call.process for call in history.calls)
    assert len(shares) == count
    # More than once its slots: how the cores are shared among the processes is not ours to say.
    assert min(shares.values()) > Settings().slots, shares
