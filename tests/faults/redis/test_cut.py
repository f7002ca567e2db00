"""Somebody ends all connections twice a second: work goes on between, and none of it twice."""

import threading

from tests.faults.postgres.load import add_load, judge_load
from tests.servers.redis_keys import client

#: Half a second apart, over the whole load.
TIMES = 8


def test_connections_that_are_cut_twice_a_second(site, processes, server):
    agents = [processes.agent(site.orders()) for _ in range(2)]
    add_load(site, TIMES / 2)
    site.wait_for_calls(20)
    pace, ended = threading.Event(), 0
    with client(server) as keys:
        for _ in range(TIMES):
            for kind in ("normal", "pubsub"):
                ended += keys.execute_command("CLIENT", "KILL", "TYPE", kind, "SKIPME", "yes")
            pace.wait(0.5)  # the fault's own pace; nothing is waited for
    judge_load(site)
    assert ended >= TIMES
    for agent in agents:
        assert agent.process.poll() is None
