"""Jobs in a maintenance window: their alerts are silenced, and begin anew after it."""

from tests.services.alerts.watch import HOURS, PROJECT
from tests.services.conftest import TEN
from tickwell.domain.execution import OutcomeKind, Reason
from tickwell.domain.policy import MINUTE
from tickwell.domain.trigger import Cron, Every
from tickwell.ports.records import ExecutionFilter
from tickwell.services.projects.maintenance import MaintenanceWindowing, Schedule


async def window(watch, schedule, **about):
    windows = MaintenanceWindowing(watch.store, watch.clock, watch.wake)
    await windows.put(PROJECT, "move", schedule, by="ann", **about)
    return windows


async def test_what_fails_meanwhile_is_told_only_if_it_lasts_beyond_it(watch):
    told = await watch.channel()
    rule = await watch.rule("failing", times=1)
    await watch.look()
    spared = await watch.add("spared")
    jobs = [await watch.add(name, tags=("db",)) for name in ("mended", "broken")]
    windows = await window(watch, Schedule(length=HOURS), tags=["db"])
    for job in (spared, *jobs):
        await watch.end(job, OutcomeKind.FAILED)
    await watch.look()
    assert await watch.told(told, rule) == [("firing", "spared")]
    await watch.end(jobs[0], OutcomeKind.SUCCEEDED)
    await watch.wait(10 * MINUTE)
    assert await watch.told(told, rule) == [("firing", "spared")]
    await windows.end(PROJECT, "move")
    await watch.look()
    assert await watch.told(told, rule) == [("firing", "spared"), ("firing", "broken")]


async def test_what_fired_before_is_acknowledged_and_not_repeated(watch):
    told = await watch.channel()
    rule = await watch.rule("failing", times=1, repeat=30 * MINUTE)
    await watch.look()
    job = await watch.add("report")
    await watch.end(job, OutcomeKind.FAILED)
    await watch.look()
    await window(watch, Schedule(length=2 * HOURS))
    await watch.wait(HOURS)
    assert await watch.told(told, rule) == [("firing", "report"), ("silenced", "report")]


async def test_a_job_whose_fire_times_were_inside_is_not_missing_right_after_it(watch):
    told = await watch.channel()
    rule = await watch.rule("missing", after=10 * MINUTE)
    await watch.add("report", Every("5m"))
    await window(watch, Schedule(length=HOURS))
    await watch.wait(HOURS + 9 * MINUTE)
    assert await watch.told(told, rule) == []
    await watch.wait(2 * MINUTE)  # and has not succeeded since
    assert await watch.told(told, rule) == [("firing", "report")]


async def test_a_job_that_had_its_chances_outside_is_missing_whatever_the_window(watch):
    told = await watch.channel()
    rule = await watch.rule("missing", after=50 * MINUTE)
    await watch.add("report", Every("5m"))
    half_hourly = Schedule(trigger=Cron("*/30 * * * *"), length=10 * MINUTE)
    await window(watch, half_hourly)
    await watch.wait(HOURS - 5 * MINUTE)
    assert await watch.told(told, rule) == [("firing", "report")]


async def test_what_a_window_skipped_is_no_skip_to_tell_of(watch):
    told = await watch.channel()
    rule = await watch.rule("skipped", times=1)
    job = await watch.add("report", Every("1m"))
    await watch.at(TEN + MINUTE - 2000, horizon=2000)
    windows = await window(watch, Schedule(length=MINUTE))
    where = ExecutionFilter(project=PROJECT, job_id=job.id)
    [row] = (await watch.store.list_executions(where)).items
    assert row.reason == Reason.MAINTENANCE
    await windows.end(PROJECT, "move")
    await watch.look(4)
    assert await watch.told(told, rule) == []
