"""Nothing comes through for longer than a lease, and nobody is told: no worker is lost by it."""

import threading
from itertools import pairwise

import pytest

from tests.faults.postgres.load import add_load, judge_load

#: Seconds; what is left of a lease is long enough for a beat on a busy machine.
LEASE = 2.5
AWAY = 3.5


def longest_pause(site):
    """Seconds between two calls."""
    instants = sorted(line.monotonic for line in site.begun())
    return max(later - earlier for earlier, later in pairwise(instants)) / 1e9


@pytest.mark.parametrize("way", ["up", "down"])
def test_a_black_hole_longer_than_the_lease(site, processes, proxy, way):
    orders = site.orders(settings={"ttl": LEASE}, report_every=0.1)
    agents = [processes.agent(orders) for _ in range(2)]
    add_load(site, AWAY)
    site.wait_for_calls(20)
    proxy.stall(getattr(proxy, way))
    threading.Event().wait(AWAY)  # the fault itself lasts this long; nothing is waited for
    proxy.heal()
    history = judge_load(site)
    assert longest_pause(site) > LEASE  # it was one
    for agent in agents:
        agent.wait_for("Report", after=len(agent.lines), ok=True)
        assert not agent.heard("WorkerLost")
        assert not agent.heard("AttemptsFenced")
    # A worker that cannot beat gives back what it has not started.
    assert {each.outcome for row in history.rows for each in row.tries} <= {"succeeded", "released"}
