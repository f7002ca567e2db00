"""The metric counts the alerts that fire, and none that is silenced."""

from tests.services.alerts.watch import HOURS, PROJECT
from tickwell.domain.event import Events
from tickwell.observe.metrics.store_figures import StoreFigures
from tickwell.settings import Settings
from tickwell.shared_read import SharedRead
from tickwell.wiring import make_metrics


async def firing(watch):
    text = (await make_metrics(watch.store, watch.clock, Settings(), Events()).text())[0].decode()
    lines = [line for line in text.splitlines() if line.startswith("tickwell_alerts_firing{")]
    return [float(line.rpartition(" ")[2]) for line in lines]


async def of_project(watch, project):
    figures = StoreFigures(
        watch.store,
        watch.clock,
        life=0,
        job_times=0,
        lengths=SharedRead(watch.clock, 0),
        project=project,
    )
    found = await figures.read()
    await figures.close()
    assert found is not None
    return dict(found.alerts)


async def test_what_fires_is_counted_by_severity(watch):
    await watch.add("one"), await watch.add("two")
    await watch.rule("missing", after=HOURS)
    assert await firing(watch) == [0.0, 0.0]
    watch.clock.instant += HOURS
    await watch.look(2)
    assert await firing(watch) == [2.0, 0.0]
    assert await of_project(watch, PROJECT) == {"critical": 2}
    assert await of_project(watch, "acme") == {}


async def test_what_is_silenced_is_not(watch):
    job = await watch.add("one")
    await watch.add("two")
    rule = await watch.rule("missing", after=HOURS)
    watch.clock.instant += HOURS
    await watch.look(2)
    await watch.silence(watch.clock.instant + HOURS, rule=rule.id, job=job.id)
    watch.clock.instant += 60_000  # figures of before are shared for seconds
    await watch.look(2)
    assert await of_project(watch, PROJECT) == {"critical": 1}
    assert await firing(watch) == [1.0, 0.0]
