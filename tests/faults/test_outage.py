"""The store is away for longer than a lease: nobody is lost by it, and nothing is."""

import sqlite3
import time

from tests.processes.child import until
from tests.processes.jobs import RUN_ALL, every, job, multiples, once
from tickwell.clock import wall_millis
from tickwell.domain.gate import Overlap
from tickwell.domain.policy import Misfire, OnMisfire

#: Seconds; the lease is 1.5.
AWAY = 3.0
PERIOD = 500


def add_jobs(site):
    now = wall_millis()
    first = now // PERIOD * PERIOD + 3000  # when both processes run
    last = first + int(AWAY * 1000) + 4000
    trigger, fires = every(PERIOD, first, last), multiples(PERIOD, first, last)
    policies = {
        "all": RUN_ALL,
        "latest": Misfire(policy=OnMisfire.LATEST, grace=300),
        "skip": Misfire(policy=OnMisfire.SKIP, grace=300),
    }
    flag = site.folder / "go"
    long = job("long", "hold", once(first), now, payload={"until": str(flag)})
    jobs = [
        job(name, "count", trigger, now, misfire=each, overlap=Overlap.ALLOW)
        for name, each in policies.items()
    ]
    site.add(*jobs, long, fires=dict.fromkeys(policies, fires) | {"long": [first]})
    return flag


def judge(site, agents, flag):
    """What must be so after either kind of outage."""
    flag.touch()
    ranges_and_rows = 1  # the long one; the others are counted by the history
    until(lambda: max(line.at for line in site.begun()) >= site.fires["all"][-1])
    site.wait_until_quiet(expected=ranges_and_rows)
    history = site.judge()
    for agent in agents:
        assert not agent.heard("WorkerLost")
        assert not agent.heard("AttemptsFenced")
    passed = {name: [each for each in history.ranges if each.job == name] for name in site.fires}
    assert passed["all"] == passed["long"] == []
    for name in ("latest", "skip"):
        # One outage, one range without holes; what comes right after it runs.
        [missed] = passed[name]
        assert missed.count == (missed.last - missed.first) // PERIOD + 1
        ran = {row.fire_time for row in history.rows if row.job == name}
        assert missed.last + PERIOD in ran
    return history


def test_a_store_that_does_not_answer(site, processes):
    switch = site.folder / "away"
    flag = add_jobs(site)
    agents = [processes.agent(site.orders(outage=str(switch), report_every=0.1)) for _ in range(2)]
    site.wait_for_calls(8)
    switch.touch()
    for agent in agents:
        agent.wait_for("Report", ok=False)
    before = [len(agent.lines) for agent in agents]
    time.sleep(AWAY)  # the fault itself lasts this long; nothing is waited for
    refused = [agent.heard("Report")[-1]["refused"] for agent in agents]
    switch.unlink()
    for agent, position in zip(agents, before, strict=True):
        agent.wait_for("Report", after=position, ok=True)
    # Eight services that ask once and then rest longer and longer; a busy loop asks thousands.
    assert max(refused) < 150
    history = judge(site, agents, flag)
    assert [row for row in history.rows if row.attempt > 1] == []


def test_a_file_that_another_process_has_locked(site, processes):
    flag = add_jobs(site)
    agents = [processes.agent(site.orders(report_every=0.1)) for _ in range(2)]
    site.wait_for_calls(8)
    lock = sqlite3.connect(site.folder / "jobs.db", isolation_level=None, timeout=30)
    lock.execute("BEGIN EXCLUSIVE")
    calls = [agent.heard("Report")[-1]["calls"] for agent in agents]
    time.sleep(AWAY)  # the fault itself lasts this long; nothing is waited for
    made = [
        agent.heard("Report")[-1]["calls"] - count
        for agent, count in zip(agents, calls, strict=True)
    ]
    lock.execute("ROLLBACK")
    lock.close()
    for agent in agents:
        agent.wait_for("Report", after=len(agent.lines), ok=True)
    # Reads go on; a busy loop makes thousands.
    assert max(made) < 1000
    history = judge(site, agents, flag)
    # A worker that cannot beat gives back what it has not started.
    outcomes = {each.outcome for row in history.rows for each in row.tries}
    assert outcomes <= {"succeeded", "released"}
