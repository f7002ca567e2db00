"""The server is killed, its connections are cut, its primary goes: nothing is lost or doubled."""

import threading

import pytest

from tests.faults.postgres.load import add_load, judge_load
from tests.processes.site import Site
from tests.servers.mongo import start_set

SECONDS = 6
#: Half a second apart, over the whole load.
TIMES = 8


def judged(site, agents):
    judge_load(site)
    for agent in agents:
        agent.wait_for("Report", after=len(agent.lines), ok=True)
        assert agent.process.poll() is None


def test_a_server_that_dies_under_load(site, processes, server):
    agents = [processes.agent(site.orders(report_every=0.1)) for _ in range(2)]
    add_load(site, SECONDS)
    site.wait_for_calls(100)
    server.kill()
    positions = [len(agent.lines) for agent in agents]
    for agent, position in zip(agents, positions, strict=True):
        agent.wait_for("Report", after=position, ok=False)
    server.start()
    judged(site, agents)


def test_connections_that_are_cut_twice_a_second(site, processes, proxy):
    agents = [processes.agent(site.orders(report_every=0.1)) for _ in range(2)]
    add_load(site, TIMES / 2)
    site.wait_for_calls(20)
    pace, before = threading.Event(), proxy.accepted
    for _ in range(TIMES):
        proxy.cut()
        pace.wait(0.5)  # the fault's own pace; nothing is waited for
    judged(site, agents)
    # Each cut had connections to end: a step that is repeated within the driver's call fails not.
    assert proxy.accepted >= before + TIMES


@pytest.mark.timeout(300)
def test_a_primary_that_dies_under_load(tmp_path, processes):
    members = start_set(3)
    hosts = ",".join(f"127.0.0.1:{member.port}" for member in members)
    site = Site(tmp_path, f"mongodb://{hosts}/faults?replicaSet=rs0")
    agents = [processes.agent(site.orders(report_every=0.1)) for _ in range(2)]
    add_load(site, 2 * SECONDS)
    site.wait_for_calls(100)
    members[0].kill()
    judged(site, agents)
    members[0].start()
