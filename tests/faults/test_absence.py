"""No process is there for a while: what was planned ahead is answered by the misfire policy."""

import signal
import time
from datetime import timedelta

import pytest

from tests.processes.child import until
from tests.processes.jobs import every, job, moment, multiples, uuid_of
from tickwell.clock import wall_millis
from tickwell.domain.execution import Reason, State
from tickwell.domain.gate import Overlap
from tickwell.domain.policy import Misfire, OnMisfire
from tickwell.domain.trigger import Every
from tickwell.engine.liveness.absence import SLACK

PERIOD, FIRES, GRACE = 200, 6, 100
#: Runs of the jobs that end after so many.
RUNS = 4
SKIP = Misfire(policy=OnMisfire.SKIP, grace=timedelta(milliseconds=GRACE))
LATEST = Misfire(policy=OnMisfire.LATEST, grace=timedelta(milliseconds=GRACE))
GRACIOUS = Misfire(policy=OnMisfire.SKIP, grace="1d")
#: Everything is planned long before it is due.
AHEAD = {"horizon": "60s"}
#: What a process that is killed has claimed ahead may have begun: it is retried, however late.
UNCLAIMED = AHEAD | {"lead": "0s"}
#: Milliseconds until the first fire: a process has planned by then, on a busy machine too.
SOON = 3000


def killed(agents):
    for agent in agents:
        agent.send(signal.SIGKILL)
    for agent in agents:
        agent.wait()


def stopped(agents):
    for agent in agents:
        agent.send(signal.SIGTERM)
    for agent in agents:
        agent.wait()


def planned_jobs(site):
    """Jobs of each policy, whose fires have all been planned when this returns."""
    now = wall_millis()
    first = (now + SOON) // PERIOD * PERIOD
    last = first + (FIRES - 1) * PERIOD
    fires = multiples(PERIOD, first, last)
    limited = {"start": moment(first), "max_runs": RUNS}
    jobs = [
        job("skip", "count", every(PERIOD, first, last), now, misfire=SKIP, overlap=Overlap.ALLOW),
        job("latest", "count", every(PERIOD, first, last), now, misfire=LATEST),
        job("gracious", "count", every(PERIOD, first, last), now, misfire=GRACIOUS),
        job("counted", "count", _limited(limited), now, misfire=GRACIOUS, overlap=Overlap.ALLOW),
        job("missed", "count", _limited(limited), now, misfire=SKIP, overlap=Overlap.ALLOW),
    ]
    names = ("skip", "latest", "gracious")
    site.add(*jobs, fires=dict.fromkeys(names, fires) | {"counted": fires[:RUNS], "missed": []})
    until(lambda: all(site.executions(name)[:1] for name in site.fires), what="planned")
    return fires


def _limited(options):
    return Every(timedelta(milliseconds=PERIOD), **options)


@pytest.mark.parametrize(("away", "settings"), [(killed, UNCLAIMED), (stopped, AHEAD)])
def test_fires_that_were_planned_ahead_meet_the_policy_of_their_job(
    site, processes, away, settings
):
    orders = site.orders(settings=settings)
    agents = [processes.agent(orders) for _ in range(2)]
    fires = planned_jobs(site)
    away(agents)
    gone = wall_millis()
    _let_pass(fires[-1] + GRACE)
    processes.agent(orders)
    judge(site, fires, gone)


def test_fires_that_came_due_while_their_process_was_frozen_meet_the_policy_of_their_job(
    site, processes
):
    """It has claimed some of them, and holds them for their instants."""
    agent = processes.agent(site.orders(settings=AHEAD))
    fires = planned_jobs(site)
    site.freeze(agent)
    gone = wall_millis()
    # An absence is noticed when a step is a second late, and its rest may be half of one.
    _let_pass(max(fires[-1] + GRACE, gone + 3 * SLACK))
    agent.send(signal.SIGCONT)
    judge(site, fires, gone)


def _let_pass(end):
    """The outage itself lasts this long; nothing is waited for."""
    time.sleep(max(end + 1 - wall_millis(), 0) / 1000)


def judge(site, fires, gone):
    """What came due since the processes were gone is answered by the policy of each job."""
    until(lambda: len(ran(site, "missed")) >= RUNS, what="the runs of the job with a limit")
    site.wait_until_quiet(expected=1)
    missed = site.executions("missed")
    site.fires["missed"] = multiples(PERIOD, fires[0], max(one.fire_time for one in missed))
    site.judge()
    late = [fire for fire in fires if fire > gone]
    assert ran(site, "skip").isdisjoint(late)
    assert ran(site, "latest").intersection(late) == set(late[-1:])
    assert ran(site, "gracious").issuperset(late)
    assert ran(site, "counted") == set(fires[:RUNS])
    assert ran(site, "missed").isdisjoint(late)
    assert len(ran(site, "missed")) == RUNS
    assert [runs(site, name) for name in ("counted", "missed")] == [RUNS, RUNS]
    for name in site.fires:
        skips = [one for one in site.executions(name) if one.state is State.SKIPPED]
        assert {one.reason for one in skips if one.fire_time in late} <= {Reason.MISFIRE}


def ran(site, name):
    """Fire times whose execution has ended well."""
    return {one.fire_time for one in site.executions(name) if one.state is State.SUCCEEDED}


def runs(site, name):
    """Its runs so far, as a job with a limit counts them."""

    async def read(store):
        [entry] = await store.get_jobs("default", [uuid_of(name)])
        return entry.cursor.runs

    return site.ask(read)
