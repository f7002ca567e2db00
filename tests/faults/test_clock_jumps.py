"""The store's clock is set back and forth: nothing fires again, and no work is without bound."""

import pytest

from tests.processes.child import until
from tests.processes.jobs import every, job, multiples, once
from tickwell.clock import wall_millis

HOUR = 3_600_000
#: History is pruned by age, and a jump of ten years makes all of it old.
NO_PRUNING = {"prune_every": "10000d"}


def set_clock(clock, offset):
    """At once for whoever looks: a file that is being written is never read."""
    fresh = clock.with_suffix(".new")
    fresh.write_text(str(offset))
    fresh.replace(clock)


def let_pass(agent, reports):
    """As long as it takes the process to say so many times how it is, five times a second."""
    heard = len(agent.heard("Report"))
    until(lambda: len(agent.heard("Report")) >= heard + reports)


def start(site, processes, offset, period):
    """One job that is at home in the time that is, and one that lives through the jump."""
    clock = site.folder / "offset"
    agent = processes.agent(site.orders(settings=NO_PRUNING, clock=str(clock), report_every=0.2))
    now = wall_millis()
    end = now + 6000
    jobs = {"ticking": (500, now + 500, end), "leaping": (period, now + 500, end + max(offset, 0))}
    site.add(
        *(job(name, "count", every(*each), now) for name, each in jobs.items()),
        fires={name: multiples_fast(*each) for name, each in jobs.items()},
    )
    # One of each job, however late: fires that meet while one runs are skipped.
    site.wait_for_calls(2)
    return agent, clock, end


def judge(site, agent):
    agent.wait_for("Report", after=len(agent.lines), ok=True)
    # Planner, worker, reaper and pulse: a few in each fifth of a second, never hundreds.
    reports = agent.heard("Report")
    assert reports[-1]["calls"] < 100 * len(reports)
    history = site.judge()
    outcomes = {each.outcome for row in history.rows for each in row.tries}
    # What was in hand when the clock went on is past its deadline, and is tried once more.
    # What is past its deadline after a jump is given back before it starts.
    assert outcomes <= {"succeeded", "lost", "released"}
    assert max(call.attempt for call in history.calls) <= 2
    return history


def test_two_hours_back_and_on_again(site, processes):
    agent, clock, end = start(site, processes, -2 * HOUR, 500)
    set_clock(clock, -2 * HOUR)
    let_pass(agent, 10)
    set_clock(clock, 0)
    # What a worker held for its instant must not wait two hours for it.
    until(lambda: wall_millis() > end + 500)
    site.wait_until_quiet(expected=2)
    judge(site, agent)


@pytest.mark.parametrize(
    ("offset", "period"),
    [(2 * HOUR, 500), (10 * 365 * 24 * HOUR, HOUR)],
    ids=["2 hours", "10 years"],
)
def test_on_and_back_again(site, processes, offset, period):
    agent, clock, end = start(site, processes, offset, period)
    set_clock(clock, offset)
    until(lambda: wall_millis() > end + 500)
    site.wait_until_quiet(expected=2)
    before = judge(site, agent)
    missed = sum(each.count for each in before.ranges if each.job == "leaping")
    assert missed > 0.9 * offset / period
    # Back again: everything up to the jump is answered, and is not answered twice.
    set_clock(clock, 0)
    let_pass(agent, 10)
    now = wall_millis()
    at = now + 500
    site.add(job("later", "count", once(at), now), fires={"later": [at]})
    until(lambda: any(line.job == "later" for line in site.begun()))
    site.wait_until_quiet(expected=3)
    after = judge(site, agent)
    assert len(after.calls) == len(before.calls) + 1
    assert [row for row in after.rows if row.job != "later"] == before.rows


def multiples_fast(period, first, last):
    """Ten years of milliseconds are too many to count through."""
    start = -(-first // period) * period
    return list(range(start, last + 1, period))


def test_counting_and_striding_agree():
    assert multiples_fast(7, 20, 50) == multiples(7, 20, 50)
