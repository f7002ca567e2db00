"""A server without a free connection: said at the start, and waited out by who runs already."""

import pytest

from tests.faults.postgres.crowd import Crowd, small_server
from tests.faults.postgres.load import add_load, judge_load
from tests.processes.site import Site
from tests.processes.start import ROOT, run

SECONDS = 4
#: Places for an agent that would take more.
FEW = 4


@pytest.fixture
def crowd():
    made = Crowd(small_server().url)
    yield made
    made.close()


@pytest.fixture
def site(tmp_path, crowd):
    crowd.owner.execute("DROP SCHEMA IF EXISTS faults CASCADE")
    return Site(tmp_path, f"{crowd.url}?schema=faults")


def serve(store):
    return run("tickwell", "serve", "--no-http", "--store", store, cwd=ROOT)


def test_a_full_server_is_said_at_the_start(site, crowd):
    crowd.fill()
    done = serve(site.store)
    assert done.returncode != 0
    assert "Traceback" not in done.stderr
    assert "has no connection left; raise its max_connections" in done.stderr
    crowd.leave()
    assert crowd.ask("SELECT count(*) FROM pg_namespace WHERE nspname = 'faults'") == 0


def test_who_runs_already_waits_and_recovers(site, processes, crowd):
    agents = [processes.agent(site.orders(report_every=0.1)) for _ in range(2)]
    add_load(site, SECONDS)
    site.wait_for_calls(20)
    positions = [len(agent.lines) for agent in agents]
    crowd.crowd_out()
    for agent, position in zip(agents, positions, strict=True):
        said = agent.wait_for("Report", after=position, ok=False)
        assert said["problems"]
    crowd.leave()
    history = judge_load(site)
    assert {each.outcome for row in history.rows for each in row.tries} <= {"succeeded", "released"}
    for agent in agents:
        agent.wait_for("Report", after=len(agent.lines), ok=True)
        assert agent.process.poll() is None


def test_fewer_connections_than_are_wanted_are_enough(site, processes, crowd):
    add_load(site, 2)
    crowd.fill()
    crowd.leave(FEW)
    agent = processes.agent(site.orders())
    site.wait_for_calls(site.expected)
    crowd.leave()
    history = judge_load(site)
    assert {call.attempt for call in history.calls} == {1}
    assert agent.process.poll() is None
