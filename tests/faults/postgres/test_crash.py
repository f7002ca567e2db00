"""The server is killed under load, and comes back with all that it has acknowledged."""

import pytest

from tests.faults.postgres.load import add_load, judge_load

SECONDS = 3


@pytest.mark.parametrize("end", ["kill", "stop_at_once"])
def test_a_server_that_dies_under_load(site, processes, server, end):
    agents = [processes.agent(site.orders(report_every=0.1)) for _ in range(2)]
    add_load(site, SECONDS)
    site.wait_for_calls(100)
    getattr(server, end)()
    positions = [len(agent.lines) for agent in agents]
    for agent, position in zip(agents, positions, strict=True):
        agent.wait_for("Report", after=position, ok=False)
    server.start()
    judge_load(site)
    for agent in agents:
        agent.wait_for("Report", after=len(agent.lines), ok=True)
        assert agent.process.poll() is None
