"""The server is killed under load, and comes back with all that it has acknowledged."""

import asyncio

import pytest

from tests.faults.postgres.load import add_load, judge_load
from tests.faults.postgres.victim import Victim
from tickwell.domain.execution import State
from tickwell.domain.trigger import OnDemand
from tickwell.stores.postgres import PostgresStore
from tickwell.testing.contract.builders import T0, a_request
from tickwell.testing.contract.scene import Scene

SECONDS = 3
#: It confirms a commit at once, and writes it ten seconds later.
LAZY = ("synchronous_commit=off", "wal_writer_delay=10s")


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


async def test_a_claim_survives_the_end_of_a_server_that_would_not_wait_for_its_disk():
    """Else its attempt has started, is not on record, and another gets its number."""
    server = await asyncio.to_thread(Victim, *LAZY)
    store = PostgresStore.from_url(f"{server.url}?schema=lazy")
    await store.open()
    try:
        scene = Scene(store)
        job = await scene.job(trigger=OnDemand())
        [id] = await scene.run(a_request(job, T0))
        [claim] = await scene.claim(T0)
        await asyncio.to_thread(server.stop_at_once)
        await asyncio.to_thread(server.start)
    finally:
        await store.close()
    again = PostgresStore.from_url(f"{server.url}?schema=lazy")
    await again.open()
    try:
        found = await Scene(again).execution(id)
        assert (found.state, found.attempt) == (State.RUNNING, claim.attempt)
    finally:
        await again.close()
