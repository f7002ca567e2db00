"""Connections that die without a word cost time, and no lease."""

from dataclasses import replace

from tests.faults.postgres.load import judge_load
from tests.processes.child import until
from tests.processes.jobs import RUN_ALL, job, once
from tickwell.clock import wall_millis
from tickwell.stores.postgres import PostgresStore

#: A beat is given up after three seconds; a statement after ten, when the driver's patience ends.
LEASE = {"lease": "8s", "beat": "500ms"}
TIMEOUTS = "&statement_timeout=5&connect_timeout=2"


def hung(agent):
    """Services that were named while their step had not come back."""
    problems = [problem for line in agent.heard("Report") for problem in line["problems"]]
    return {each.split(":")[0] for each in problems if "has not come back" in each}


def test_connections_that_are_forgotten_cost_nobody_a_lease(site, processes, proxy):
    orders = site.orders(settings=LEASE, report_every=0.1)
    worker = processes.agent(replace(orders, store=orders.store + TIMEOUTS))
    bystander = processes.agent(replace(orders, store=site.store, roles=[]))
    now, done = wall_millis(), site.folder / "done"
    held = job("held", "hold", once(now), now, payload={"until": str(done)}, misfire=RUN_ALL)
    site.add(held, fires={"held": [now]})
    site.wait_for_calls(1)
    position = len(worker.lines)
    proxy.forget()
    # The pulse gives its connection up first, and beats on.
    worker.wait_for("StepFailed", after=position, service="pulse")
    worker.wait_for("StepRecovered", after=position, service="pulse")
    assert not bystander.heard("WorkerLost")
    # What else hangs is named while it does, and not only when it has failed.
    until(lambda: hung(worker), what="a step that hangs")
    worker.wait_for("Report", after=len(worker.lines), ok=True)
    done.touch()
    history = judge_load(site)
    assert [each.outcome for row in history.rows for each in row.tries] == ["succeeded"]
    assert not bystander.heard("WorkerLost")
    assert not worker.heard("AttemptsFenced")


async def test_an_ear_that_went_deaf_is_replaced(site, proxy):
    speaker, listener = (
        PostgresStore.from_url(f"{way}&connect_timeout=5") for way in (site.store, site.way)
    )
    await speaker.open()
    await listener.open()
    assert await listener.changed(30)  # it has begun to listen
    assert not await listener.changed(0.01)
    proxy.forget()
    assert not await listener.changed(0.01)  # which found out
    assert await listener.changed(0.01)  # something may have been missed meanwhile
    assert not await listener.changed(0.01)
    speaker.bell.ring()
    assert await listener.changed(30)
    await speaker.close()
    await listener.close()
