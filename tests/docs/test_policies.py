"""The tables on the page of policies, computed."""

from datetime import datetime

import pytest

from tests.docs import pages
from tickwell import Backoff, Call, Every, Misfire, OnMisfire, Retry
from tickwell.clock import to_datetime, to_millis
from tickwell.domain.job import Job
from tickwell.domain.planning import first_cursor, plan

ROWS = pages.rows(pages.text_of("policies"))
POLICIES = {
    "`SKIP`": Misfire(policy=OnMisfire.SKIP),
    "`LATEST`": Misfire(policy=OnMisfire.LATEST),
    "`ALL`": Misfire(policy=OnMisfire.ALL),
    "`ALL` with `cap=2`": Misfire(policy=OnMisfire.ALL, cap=2),
}


def at(time):
    return to_millis(datetime.fromisoformat(f"2026-11-16T{time}+00:00"))


def say(instant):
    return f"{to_datetime(instant):%H:%M}"


@pytest.mark.parametrize("label", POLICIES)
def test_the_worked_outage(label):
    _, runs, skip = next(cells for cells in ROWS if cells[0] == label)
    job = Job(id="x", name="x", trigger=Every("10m"), target=Call("x"), misfire=POLICIES[label])
    planned = plan(job, first_cursor(job, at("08:55:00")), at("09:41:00"), 2000)
    assert ", ".join(say(each.fire_time) for each in planned.executions) == runs.replace("none", "")
    ranges = [f"{say(each.first)} to {say(each.last)}, {each.count}" for each in planned.skips]
    assert ", ".join(ranges) == skip.replace("none", "")


@pytest.mark.parametrize("backoff", Backoff)
def test_the_delays(backoff):
    failures = next(cells for cells in ROWS if cells[0] == "after failure")[1:]
    delays = next(cells for cells in ROWS if cells[0].startswith(f"`{backoff.name}`"))[1:]
    retry = Retry(backoff=backoff, jitter=0)
    assert [str(retry.delay_after(int(count), "any") // 1000) for count in failures] == delays
