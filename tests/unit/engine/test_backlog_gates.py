"""A planner after an outage: what it starts at once, what it holds, and what it says of that."""

import pytest

from tickwell.domain.backlog import BacklogAnswer, FireRange
from tickwell.domain.event import BacklogHeld
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.domain.gate import Overlap
from tickwell.domain.policy import Misfire, OnMisfire
from tickwell.domain.trigger import Every
from tickwell.engine.planning.backlog_gates import BACKLOG_KIND, NOTED_FOR
from tickwell.errors import StoreUnavailable
from tickwell.services.jobs.backlogs import Backlogs

ALL = Misfire(policy=OnMisfire.ALL)


def planner_of(rig):
    return rig.engine._loops["planner"].service


async def back_after(rig, seconds):
    await rig.clock.advance(seconds)
    await rig.beat()


async def through(rig):
    """Steps until the planner rests."""
    while await planner_of(rig).step() == 0.0:
        pass


async def backlog(rig, job):
    (entry,) = await rig.memory.get_jobs("default", [job.id])
    return entry.cursor.backlog


async def note(rig, project="default"):
    return await rig.memory.get_record(BACKLOG_KIND, PLATFORM_PROJECT, project, rig.clock.now())


@pytest.fixture
async def rig(rigs):
    rig = rigs(backlog_of_job=10, backlog_of_project=20)
    await rig.beat()
    return rig


async def test_more_missed_fires_than_a_job_may_start_are_held_and_told_once(rig):
    job = await rig.add(trigger=Every("1s"), overlap=Overlap.ALLOW, misfire=ALL)
    start = rig.clock.now()
    await back_after(rig, 30)
    await through(rig)
    held = await backlog(rig, job)
    assert held.ranges == (FireRange(start + 1_000, start + 19_000, 19),)
    assert held.until == held.since + 3_600_000
    assert rig.heard(BacklogHeld) == [BacklogHeld(project="default", jobs=1, runs=19)]
    assert len(await rig.states()) == 13  # in the grace, now, and within the horizon


async def test_a_note_is_on_record_before_anything_is_held(rig):
    job = await rig.add(trigger=Every("1s"), misfire=ALL)
    await back_after(rig, 30)
    assert await note(rig) is None
    await planner_of(rig).step()
    assert await backlog(rig, job) is None
    assert await note(rig) is not None
    await planner_of(rig).step()
    assert await backlog(rig, job) is not None


async def test_without_a_note_nothing_is_held(rig, monkeypatch):
    job = await rig.add(trigger=Every("1s"), misfire=ALL)
    await back_after(rig, 30)

    async def refused(*_):
        raise StoreUnavailable("away")

    with monkeypatch.context() as patch:
        patch.setattr(rig.memory, "put_records", refused)
        for _ in range(3):
            with pytest.raises(StoreUnavailable):
                await planner_of(rig).step()
            assert await backlog(rig, job) is None
    await through(rig)
    assert await backlog(rig, job) is not None


async def test_a_project_starts_no_more_than_its_limit_and_another_project_all_of_its_own(rig):
    for number in range(30):
        await rig.add(f"job{number}", trigger=Every("10m"))
    other = await rig.add("other", project="other", trigger=Every("10m"))
    await back_after(rig, 1_000)
    await through(rig)
    jobs = [each for each in rig.memory.tables.jobs.values() if each.cursor.backlog is not None]
    assert len(jobs) == 10
    assert other.id not in {each.job.id for each in jobs}
    assert len(await rig.states()) == 21
    assert await note(rig, "other") is None


async def test_once_through_the_next_outage_counts_anew(rig):
    for number in range(15):
        await rig.add(f"job{number}", trigger=Every("10m"), overlap=Overlap.ALLOW)
    for _ in range(2):
        await back_after(rig, 1_200 - rig.clock.now() / 1000 % 600 + 60)
        await through(rig)
    assert not any(each.cursor.backlog for each in rig.memory.tables.jobs.values())


async def test_without_limits_nothing_is_held(rigs):
    rig = rigs(backlog_of_job=0, backlog_of_project=0)
    await rig.beat()
    job = await rig.add(trigger=Every("1s"), misfire=Misfire(policy=OnMisfire.ALL, cap=1000))
    await back_after(rig, 900)
    await through(rig)
    assert await backlog(rig, job) is None


async def test_the_configured_answer_applies_after_the_time(rigs):
    rig = rigs(backlog_of_job=10, backlog_wait="1m", backlog_answer="skip")
    await rig.beat()
    job = await rig.add(trigger=Every("1s", until=None), overlap=Overlap.ALLOW, misfire=ALL)
    await back_after(rig, 30)
    await through(rig)
    runs = len(await rig.states())
    for _ in range(7):
        await rig.clock.advance(9)
        await rig.beat()
        await through(rig)
    assert await backlog(rig, job) is None
    assert len(await rig.states()) == runs + 63


async def test_a_note_is_removed_once_nothing_is_held_and_not_while_it_is_new(rig):
    job = await rig.add(trigger=Every("1s"), misfire=ALL)
    await back_after(rig, 30)
    await through(rig)
    backlogs = Backlogs(rig.memory, rig.clock, lambda: None)
    await backlogs.answer(await backlogs.held("default"), BacklogAnswer.SKIP)
    assert await backlog(rig, job) is None
    assert await backlogs.held("default") == []
    assert await backlogs.noted("default")
    await rig.clock.advance(2 * NOTED_FOR)
    assert await backlogs.held("default") == []
    assert not await backlogs.noted("default")
