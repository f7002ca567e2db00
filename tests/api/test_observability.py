"""Metrics of the last minutes over HTTP, as workers counted them."""

import pytest

from tickwell.domain.event import AttemptsFinished
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.outcome import Outcome, decide
from tickwell.engine.charts.tallies import Tallies
from tickwell.services.access.actor import Permission

PATH = "/observability/metrics"


async def run_many(world, count, kind=OutcomeKind.SUCCEEDED, name="report"):
    """Trigger a job so often, and end and count its runs as a worker does."""
    for _ in range(count):
        await world.http.post(f"/jobs/{name}/trigger")
    now = world.clock.now()
    claims = await world.run(kind)
    reports = [decide(each, Outcome(kind=kind, started_at=now - 150), now) for each in claims]
    tallies = Tallies(world.store, world.clock, f"{name}{kind}")
    tallies.on_event(AttemptsFinished(reports=reports))
    await tallies.flush()


async def test_rates_errors_and_percentiles_as_the_seed_has_them(world, http):
    await world.add(retry={"max_attempts": 1})
    await run_many(world, 36)
    await run_many(world, 9, OutcomeKind.FAILED)
    found = (await http.get(PATH)).json()
    assert set(found["rate"]) == {"1min", "5min", "15min"} == set(found["errors"])
    assert (found["rate"]["15min"], found["errors"]["15min"]) == (0.05, 0.01)
    assert found["rate"]["5min"] == 0.15
    assert set(found["duration"]) == {"p50", "p95", "p99"}
    assert found["duration"]["p50"] == pytest.approx(150, rel=0.091)
    assert found["queue_depth"] == 0
    assert [(each["name"], each["rate"]) for each in found["queues"]] == [("default", 0.05)]


async def test_nothing_ran_is_no_error(http):
    found = (await http.get(PATH)).json()
    assert found["rate"] == {"1min": 0, "5min": 0, "15min": 0}
    assert found["duration"] == {"p50": None, "p95": None, "p99": None}
    assert found["queues"] == []


async def test_of_a_queue_or_of_a_job(world, http):
    await world.add()
    await world.add("other")
    await run_many(world, 9)
    await world.http.post("/jobs/report/trigger")
    for params, rate, depth in (
        ({"job": "report"}, 0.01, 1),
        ({"job": "other"}, 0, 0),
        ({"queue": "default"}, 0.01, 1),
        ({"queue": "mail"}, 0, 0),
    ):
        found = (await http.get(PATH, params=params)).json()
        assert (params, found["rate"]["15min"], found["queue_depth"]) == (params, rate, depth)
    assert (await http.get(PATH, params={"job": "unknown"})).status_code == 404


async def test_a_project_sees_its_own_and_the_platform_all(world, http):
    await world.add()
    await run_many(world, 9)
    world.as_actor(Permission.READ, project="other")
    assert (await http.get(PATH)).json()["rate"]["15min"] == 0
    assert (await http.get(PATH, params={"job": "report"})).status_code == 404
    assert (await http.get(PATH, params={"all_projects": True})).status_code == 403
    world.as_actor(Permission.READ, Permission.PLATFORM, project="other")
    everything = (await http.get(PATH, params={"all_projects": True})).json()
    assert everything["rate"]["15min"] == 0.01
