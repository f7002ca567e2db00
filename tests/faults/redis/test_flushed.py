"""The database is flushed under load: all processes halt and say so, and none begins anew."""

import os
import signal
from functools import partial

import pytest

from tests.faults.postgres.load import add_load
from tests.processes.child import is_alive, until
from tests.processes.service import serving
from tests.servers.redis_keys import client


def says_why(agent):
    """Whether a service of it has found out: the planner, or first the heartbeat.

    On a busy machine the planner may be halted just then, as its time is too old. It stays halted:
    no beat of this store brings it a newer one, so only the heartbeat says why.
    """
    return any("its epoch is gone" in line["error"] for line in agent.heard("StepFailed"))


def test_a_database_that_is_flushed_under_load(site, processes, server):
    agents = [processes.agent(site.orders(report_every=0.1)) for _ in range(2)]
    add_load(site, 3)
    site.wait_for_calls(50)
    with client(server) as keys:
        keys.flushall()
        for agent in agents:
            until(partial(says_why, agent))
            agent.wait_for("Report", after=len(agent.lines), ok=False)
        assert keys.dbsize() == 0
    for agent in agents:
        assert agent.process.poll() is None


@pytest.mark.parametrize("beside", [False, True])
def test_a_worker_that_is_started_anew_begins_nothing(site, server, monkeypatch, beside):
    if beside:
        monkeypatch.setenv("TICKWELL_NOTIFY", server.url)
    with serving(site, workers=1) as service, client(server) as keys:
        [worker] = service.workers()
        keys.flushall()
        os.kill(worker, signal.SIGKILL)
        [fresh] = service.wait_for_workers(1, without=(worker,))
        until(lambda: not is_alive(fresh))
        assert keys.get("{tickwell}:epoch") is None
