"""What pages show of many records: bounded, and true to what there is."""

from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.policy import DAY, HOUR, MINUTE, Retry
from tickwell.domain.tally import HOURS, Tally
from tickwell.domain.trigger import Cron, Every, OnDemand
from tickwell.ports.records import Record
from tickwell.services.insights import timeline as timelines
from tickwell.services.insights.density import density
from tickwell.services.insights.job_history import LATEST_FEW, latest_states
from tickwell.services.insights.timeline import hourly_load, timeline

TEN = 1_781_517_600_000


async def three_hours(world):
    """A busy job of which one died two hours ago, and a rare one."""
    await world.jobs.add(world.job(Every("10m"), "busy", retry=Retry(max_attempts=1)))
    await world.jobs.add(world.job(Every("1h"), "rare"))
    for minute in range(10, 181, 10):
        await world.at(TEN + minute * MINUTE)
        kind = OutcomeKind.FAILED if minute == 70 else OutcomeKind.SUCCEEDED
        await world.run(kind)


async def lanes(world):
    now = world.clock.now()
    found = await timeline(world.store, "default", TEN, now + HOUR, now)
    return found, {lane.name: lane for lane in found.lanes}


async def test_all_is_drawn_where_there_is_room(world):
    await three_hours(world)
    found, by_name = await lanes(world)
    assert {name: len(lane.executions) for name, lane in by_name.items()} == {"busy": 18, "rare": 3}
    assert {name: len(lane.fires) for name, lane in by_name.items()} == {"busy": 6, "rare": 1}
    assert sum(found.load) == 26


async def test_a_busy_job_leaves_room_for_a_rare_one_and_hides_nothing_that_died(
    world, monkeypatch
):
    monkeypatch.setattr(timelines, "READ", 10)
    monkeypatch.setattr(timelines, "EACH", 5)
    await three_hours(world)
    found, by_name = await lanes(world)
    assert len(by_name["rare"].executions) == 3
    assert by_name["rare"].dense_before is None
    busy = by_name["busy"]
    assert [each.state for each in busy.executions] == [State.SUCCEEDED] * 5 + [State.DEAD]
    assert busy.dense_before == TEN + 140 * MINUTE
    assert sum(found.load) == 3 + 5


async def test_every_lane_that_is_drawn_has_what_it_ran(world, monkeypatch):
    monkeypatch.setattr(timelines, "LANES", 1)
    monkeypatch.setattr(timelines, "READ", 10)
    await three_hours(world)
    found, by_name = await lanes(world)
    assert {name: len(lane.executions) for name, lane in by_name.items()} == {"busy": 18}
    assert found.partial


async def test_a_span_that_is_over_has_what_ran_in_it_and_no_job_that_did_not(world, monkeypatch):
    monkeypatch.setattr(timelines, "READ", 4)
    await three_hours(world)
    await world.jobs.add(world.job(Every("1m"), "newer"))
    now = world.clock.now()
    found = await timeline(world.store, "default", TEN, TEN + HOUR, now)
    ran = {lane.name: [each.fire_time for each in lane.executions] for lane in found.lanes}
    assert ran == {"busy": [TEN + minute * MINUTE for minute in (50, 40, 30, 20, 10)]}
    assert [lane.fires for lane in found.lanes] == [()]
    monkeypatch.undo()
    whole = await timeline(world.store, "default", TEN, TEN + HOUR, now)
    assert [each.fire_time for each in whole.lanes[0].executions] == ran["busy"]


def test_by_the_hour_the_past_is_as_it_was_counted_and_the_future_as_it_will_fire():
    now = TEN + 2 * HOUR + MINUTE
    ended = {TEN: Tally(succeeded=7, dead=1), TEN + HOUR: Tally(succeeded=3)}
    fires = [TEN + 3 * HOUR, TEN + 3 * HOUR + MINUTE]
    found = hourly_load(ended, fires, 60.0, since=TEN, until=TEN + 5 * HOUR, now=now)
    assert found == [8, 3, 0, 62, 60]


async def test_what_fires_all_the_time_is_counted_at_its_rate(world):
    await world.jobs.add(world.job(Every("30s"), "always"))
    await world.jobs.add(world.job(Cron("0 3 * * *"), "nightly"))
    world.clock.instant += 12_345
    found = await density(world.store, "default", TEN, TEN + DAY, world.clock.now())
    assert (found.steady, found.steady_rate) == (1, 120.0)
    assert found.hours[TEN + 17 * HOUR] == 121
    assert found.hours[TEN + 18 * HOUR] == 120


async def test_of_this_hour_what_ended_and_what_is_to_come_is_counted(world):
    await world.jobs.add(world.job(Cron("50 10 * * *"), "daily"))
    now = TEN + 30 * MINUTE
    ended = Tally(succeeded=3, dead=1).to_document()
    key = HOURS.key(TEN, "w")
    record = Record(kind=HOURS.kind, project="default", key=key, document=ended)
    await world.store.put_record(record, now)
    found = await density(world.store, "default", TEN, TEN + HOUR, now)
    assert found.hours == {TEN: 5}


async def test_the_latest_few_of_each_job_newest_first(world):
    busy = await world.jobs.add(world.job(OnDemand(), "busy", retry=Retry(max_attempts=1)))
    idle = await world.jobs.add(world.job(OnDemand(), "idle"))
    for number in range(LATEST_FEW + 2):
        world.clock.instant += 1000
        await world.executions.trigger("default", "busy")
        last = number == LATEST_FEW + 1
        await world.run(OutcomeKind.FAILED if last else OutcomeKind.SUCCEEDED)
    ids = [busy.job.id, idle.job.id]
    found = await latest_states(world.store, "default", ids)
    assert found[ids[0]] == [State.DEAD] + [State.SUCCEEDED] * (LATEST_FEW - 1)
    assert found[ids[1]] == []
