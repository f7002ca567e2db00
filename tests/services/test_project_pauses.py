"""Pausing a project, and everything: what people and other services see of it."""

import pytest

from tickwell.domain.change import align
from tickwell.domain.job import JobState, PauseScope
from tickwell.domain.policy import HOUR, MINUTE, SECOND
from tickwell.domain.project_pause import EVERYTHING
from tickwell.domain.trigger import Every
from tickwell.engine.planning import project_pauses
from tickwell.errors import InvalidInput, WrongState
from tickwell.services.alerts.watched import is_watched
from tickwell.services.jobs.fire_times import next_fire
from tickwell.services.projects.pauses import Pauses, ProjectPausing
from tickwell.services.slots.slots import Answer
from tickwell.services.time import After

TEN = 1_781_517_600_000


@pytest.fixture
def pausing(world):
    return ProjectPausing(world.store, world.clock, world.wake)


async def cursor(world, name="report"):
    return (await world.jobs.get("default", name)).cursor


async def answers(world, since, until):
    page = await world.slots.read("default", "report", since, until)
    return [(slot.answer, slot.reason) for slot in page.items]


async def test_slots_are_paused_meanwhile_and_skipped_as_paused_after_it(world, pausing):
    await world.jobs.add(world.job(Every("1m")))
    await pausing.pause("default", by="ann", why="moving")
    await world.at(TEN + 3 * MINUTE)
    assert await answers(world, TEN + 1, TEN + 3 * MINUTE) == [(Answer.PAUSED, None)] * 2
    await pausing.resume("default")
    await world.at(TEN + 3 * MINUTE)
    assert await answers(world, TEN + 1, TEN + 3 * MINUTE) == [(Answer.SKIPPED, "paused")] * 2
    await world.at(TEN + 4 * MINUTE)
    assert await answers(world, TEN + 4 * MINUTE, TEN + 4 * MINUTE + 1) == [(Answer.EXECUTED, None)]


async def test_a_job_that_is_added_meanwhile_begins_paused(world, pausing):
    await pausing.pause("default", by="ann", until=After(HOUR))
    entry = await world.jobs.add(world.job(Every("1m")))
    assert entry.cursor.state is JobState.PAUSED
    assert entry.cursor.pause.scope is PauseScope.PROJECT
    assert next_fire(entry) == TEN + HOUR
    await world.at(TEN + HOUR)
    assert (await cursor(world)).state is JobState.ACTIVE


async def test_a_job_is_resumed_with_its_project_and_not_before(world, pausing):
    await world.jobs.add(world.job(Every("1m")))
    await world.jobs.pause("default", ["report"], by="bob")
    await pausing.pause("default", by="ann")
    (changed,) = await world.jobs.resume("default", ["report"])
    assert changed.entry.cursor.pause.scope is PauseScope.PROJECT
    with pytest.raises(WrongState, match="paused with its project"):
        await world.jobs.resume("default", ["report"])
    await pausing.resume("default")
    assert (await cursor(world)).state is JobState.ACTIVE


async def test_both_pauses_are_told_with_who_and_why(world, pausing):
    assert await pausing.get("default") == Pauses()
    await pausing.pause("default", by="ann", why="moving")
    await pausing.pause(EVERYTHING, by="root", why="fire", until=After(MINUTE))
    found = await pausing.get("default")
    assert (found.project.by, found.project.why, found.project.since) == ("ann", "moving", TEN)
    assert (found.platform.by, found.platform.until) == ("root", TEN + MINUTE)
    assert (await pausing.get("other")).project is None
    world.clock.instant += MINUTE
    assert (await pausing.get("default")).platform is None


async def test_alerts_of_its_jobs_are_silent(world, pausing):
    await world.jobs.add(world.job(Every("1m")))
    assert is_watched(await world.jobs.get("default", "report"))
    await pausing.pause("default", by="ann")
    assert not is_watched(await world.jobs.get("default", "report"))
    await pausing.resume("default")
    assert is_watched(await world.jobs.get("default", "report"))


async def test_a_newer_pause_counts(world, pausing):
    await world.jobs.add(world.job(Every("1m")))
    await pausing.pause("default", by="ann", until=After(MINUTE))
    await pausing.pause("default", by="bob", until=After(HOUR))
    found = await cursor(world)
    assert (found.pause.by, found.next_fire_time) == ("bob", TEN + HOUR)


@pytest.mark.parametrize("key", ["default", EVERYTHING])
async def test_what_is_not_paused_cannot_be_resumed(world, pausing, key):
    with pytest.raises(WrongState, match="is not paused"):
        await pausing.resume(key)
    await pausing.pause(key, by="ann")
    await pausing.resume(key)
    with pytest.raises(WrongState, match="is not paused"):
        await pausing.resume(key)


async def test_an_end_that_is_past_is_refused(pausing):
    with pytest.raises(InvalidInput, match="is past"):
        await pausing.pause("default", by="ann", until=TEN - SECOND)


async def test_a_resume_wins_over_a_pause_that_is_still_being_written(world, pausing, monkeypatch):
    job = (await world.jobs.add(world.job(Every("1m")))).job
    sound = project_pauses._align

    async def overtaken(store, clock, project, ids, total):
        monkeypatch.setattr(project_pauses, "_align", sound)
        under = (await pausing.get("default")).project
        await pausing.resume("default")
        await store.change_jobs(project, [job.id], align(under), clock.now())

    monkeypatch.setattr(project_pauses, "_align", overtaken)
    await pausing.pause("default", by="ann")
    assert (await cursor(world)).state is JobState.ACTIVE
