"""The server is killed under load, and comes back with all that it has acknowledged."""

from tests.faults.postgres.load import add_load, judge_load

SECONDS = 3


def test_a_server_that_dies_under_load(site, processes, server):
    agents = [processes.agent(site.orders(report_every=0.1)) for _ in range(2)]
    add_load(site, SECONDS)
    site.wait_for_calls(100)
    server.kill()
    positions = [len(agent.lines) for agent in agents]
    for agent, position in zip(agents, positions, strict=True):
        agent.wait_for("Report", after=position, ok=False)
    server.run()
    judge_load(site)
    for agent in agents:
        agent.wait_for("Report", after=len(agent.lines), ok=True)
        assert agent.process.poll() is None
