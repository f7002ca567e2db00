"""The store is away for longer than a lease: nobody is lost by it, and nothing is."""

import sqlite3
import time

from tests.processes.child import until
from tests.processes.jobs import RUN_ALL, every, job, multiples, once
from tests.processes.site import SHORT
from tickwell.clock import wall_millis
from tickwell.domain.gate import Overlap
from tickwell.domain.policy import Misfire, OnMisfire

#: Seconds; longer than a short lease.
AWAY = 6.5
PERIOD = 500


def add_jobs(site):
    now = wall_millis()
    first = now // PERIOD * PERIOD + 1000
    last = first + int(AWAY * 1000) + 4000
    trigger, fires = every(PERIOD, first, last), multiples(PERIOD, first, last)
    policies = {
        "all": RUN_ALL,
        "latest": Misfire(policy=OnMisfire.LATEST, grace="300ms"),
        "skip": Misfire(policy=OnMisfire.SKIP, grace="300ms"),
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
        # A range for the outage, without holes; for each time that a busy machine was late another.
        assert passed[name]
        for missed in passed[name]:
            assert missed.count == (missed.last - missed.first) // PERIOD + 1
    # A worker that cannot beat gives back what it has not started.
    outcomes = {each.outcome for row in history.rows for each in row.tries}
    assert outcomes <= {"succeeded", "released"}


def grown(agent, what, since):
    """By how much a number rose from one report to the next, ten a second, on the average."""
    numbers = [report[what] for report in agent.heard("Report")[since:]]
    return (numbers[-1] - numbers[0]) / len(numbers)


def test_a_store_that_does_not_answer(site, processes):
    switch = site.folder / "away"
    orders = site.orders(settings=SHORT, outage=str(switch), report_every=0.1)
    agents = [processes.agent(orders) for _ in range(2)]
    flag = add_jobs(site)
    site.wait_for_calls(4)
    switch.touch()
    for agent in agents:
        agent.wait_for("Report", ok=False)
    before = [len(agent.lines) for agent in agents]
    time.sleep(AWAY)  # the fault itself lasts this long; nothing is waited for
    refused = [grown(agent, "refused", since=0) for agent in agents]
    switch.unlink()
    for agent, position in zip(agents, before, strict=True):
        agent.wait_for("Report", after=position, ok=True)
    # Eight services that ask once and then rest longer and longer; a busy loop asks hundreds.
    assert max(refused) < 5
    judge(site, agents, flag)


def test_a_file_that_another_process_has_locked(site, processes):
    orders = site.orders(settings=SHORT, report_every=0.1)
    agents = [processes.agent(orders) for _ in range(2)]
    flag = add_jobs(site)
    site.wait_for_calls(4)
    lock = sqlite3.connect(site.folder / "jobs.db", isolation_level=None, timeout=30)
    lock.execute("BEGIN EXCLUSIVE")
    before = [len(agent.heard("Report")) for agent in agents]
    time.sleep(AWAY)  # the fault itself lasts this long; nothing is waited for
    made = [grown(agent, "calls", since=count) for agent, count in zip(agents, before, strict=True)]
    lock.execute("ROLLBACK")
    lock.close()
    for agent in agents:
        agent.wait_for("Report", after=len(agent.lines), ok=True)
    # Reads go on; a busy loop makes hundreds.
    assert max(made) < 35
    judge(site, agents, flag)
