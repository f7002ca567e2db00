"""Somebody ends all connections twice a second: work goes on between, and none of it twice."""

import threading

from tests.faults.postgres.load import add_load, judge_load
from tests.processes.child import until

#: Half a second apart, over the whole load.
TIMES = 8
TERMINATE = """
SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'tickwell'
"""
#: Seconds that nobody may leave a transaction open.
LEFT_OPEN = """
SELECT count(*) FROM pg_stat_activity
WHERE state LIKE 'idle in transaction%' AND now() - xact_start > interval '5 s'
"""


def test_connections_that_are_terminated_twice_a_second(site, processes, server):
    agents = [processes.agent(site.orders()) for _ in range(2)]
    add_load(site, TIMES / 2)
    site.wait_for_calls(20)
    pace, ended = threading.Event(), 0
    for _ in range(TIMES):
        ended += server.ask(TERMINATE)
        pace.wait(0.5)  # the fault's own pace; nothing is waited for
    judge_load(site)
    assert ended >= TIMES
    until(lambda: server.ask(LEFT_OPEN) == 0)
    for agent in agents:
        assert agent.process.poll() is None
