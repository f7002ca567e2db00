"""One occurrence is skipped before it comes, and that is undone: what people see of it."""

import pytest

from tickwell.domain.execution import State
from tickwell.domain.gate import Overlap
from tickwell.domain.policy import HOUR, MINUTE, SECOND
from tickwell.domain.trigger import Cron, Every
from tickwell.errors import InvalidInput, WrongState
from tickwell.services.insights.density import density
from tickwell.services.insights.timeline import timeline
from tickwell.services.jobs.fire_times import next_fire
from tickwell.services.jobs.skips import Skips
from tickwell.services.slots.slots import Answer

TEN = 1_781_517_600_000
FIRST, SECOND_FIRE = TEN + MINUTE, TEN + 2 * MINUTE


@pytest.fixture
def skips(world):
    return Skips(world.store, world.jobs)


@pytest.fixture
async def job(world):
    return (await world.jobs.add(world.job(Every("1m"), overlap=Overlap.ALLOW))).job


async def slot(world, fire_time):
    page = await world.slots.read("default", "report", fire_time, fire_time + 1)
    return page.items[0]


async def test_the_slot_says_who_and_why_before_it_comes_and_after(world, skips, job):
    await skips.skip("default", "report", SECOND_FIRE, by="ann", why="the receiver moves")
    for now in (FIRST, SECOND_FIRE):
        await world.at(now)
        found = await slot(world, SECOND_FIRE)
        assert (found.answer, found.reason) == (Answer.SKIPPED, "by_person")
        assert (found.by, found.why) == ("ann", "the receiver moves")
    counted = await world.slots.completeness("default", "report", TEN, SECOND_FIRE + 1)
    assert (counted.executed, counted.skipped_by_reason) == (1, {"by_person": 1})
    entry = await world.jobs.get("default", "report")
    assert entry.cursor.runs == 1


async def test_the_first_to_skip_it_is_named(world, skips, job):
    for by in ("ann", "bob"):
        await skips.skip("default", "report", FIRST, by=by)
    assert (await slot(world, FIRST)).by == "ann"


async def test_it_can_be_undone_until_it_comes(world, skips, job):
    await skips.skip("default", "report", FIRST, by="ann")
    await skips.undo("default", "report", FIRST, by="bob")
    assert (await slot(world, FIRST)).answer is Answer.UPCOMING
    await skips.skip("default", "report", FIRST, by="cid")
    assert (await slot(world, FIRST)).by == "cid"
    await world.at(FIRST)
    with pytest.raises(WrongState, match="past"):
        await skips.undo("default", "report", FIRST, by="bob")


async def test_what_is_planned_is_taken_back_and_armed_again(world, skips, job):
    await world.at(FIRST - 2 * SECOND, horizon=2 * SECOND)
    await skips.skip("default", "report", FIRST, by="ann")
    found = await slot(world, FIRST)
    assert (found.answer, found.reason, found.by) == (Answer.SKIPPED, "by_person", "ann")
    await skips.undo("default", "report", FIRST, by="ann")
    assert (await slot(world, FIRST)).answer is Answer.UPCOMING
    await world.at(FIRST)
    await world.run()
    found = await slot(world, FIRST)
    assert (found.answer, found.state) == (Answer.EXECUTED, State.SUCCEEDED)


async def test_an_instant_at_which_it_does_not_fire_names_the_nearest(world, skips):
    await world.jobs.add(world.job(Cron("0 9 * * mon")))
    with pytest.raises(InvalidInput, match="2026-06-22T09:00:00Z, 2026-06-29T09:00:00Z"):
        await skips.skip("default", "report", TEN + 8 * 24 * HOUR, by="ann")


async def test_it_is_not_among_those_that_will_run(world, skips, job):
    await skips.skip("default", "report", FIRST, by="ann")
    entry = await world.jobs.get("default", "report")
    assert next_fire(entry) == SECOND_FIRE
    assert await world.jobs.next_fires("default", "report", 2) == [FIRST, SECOND_FIRE]


async def test_timeline_and_calendar_show_it(world, skips):
    await world.jobs.add(world.job(Cron("0 */6 * * *")))
    fire = TEN + 2 * HOUR
    await skips.skip("default", "report", fire, by="ann")
    drawn = await timeline(world.store, "default", TEN, TEN + 9 * HOUR, TEN)
    assert [(lane.fires, lane.skipped) for lane in drawn.lanes] == [([TEN + 8 * HOUR], [fire])]
    full = await density(world.store, "default", TEN, TEN + 9 * HOUR, TEN)
    assert (full.hours, full.skipped) == ({TEN + 8 * HOUR: 1}, {fire: 1})
