"""Nothing comes through for longer than a lease, and nobody is told: no worker is lost by it."""

import threading

import pytest

from tests.faults.postgres.load import add_load, judge_load
from tests.processes.site import SHORT

#: Seconds; longer than the lease.
AWAY = 6.5


@pytest.mark.parametrize("way", ["up", "down"])
def test_a_black_hole_longer_than_the_lease(site, processes, proxy, way):
    orders = site.orders(settings=SHORT, report_every=0.1)
    agents = [processes.agent(orders) for _ in range(2)]
    add_load(site, AWAY / 2)
    site.wait_for_calls(20)
    proxy.stall(getattr(proxy, way))
    threading.Event().wait(AWAY)  # the fault itself lasts this long; nothing is waited for
    for agent in agents:
        agent.wait_for("StepFailed", service="pulse")  # it was one
    proxy.heal()
    history = judge_load(site)
    for agent in agents:
        agent.wait_for("Report", after=len(agent.lines), ok=True)
        assert not agent.heard("WorkerLost")
        assert not agent.heard("AttemptsFenced")
    # A worker that cannot beat gives back what it has not started.
    assert {each.outcome for row in history.rows for each in row.tries} <= {"succeeded", "released"}
