"""A checkup finds what keeps jobs from running."""

import pytest

from tests.services.conftest import TEN, WORKER
from tickwell import Every, OnDemand
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.queue import PAUSE_KIND, PAUSE_PROJECT
from tickwell.ports.records import Flaw, Record
from tickwell.services.checkup import LATE, Checkup, Level
from tickwell.services.declarations import GONE
from tickwell.stores.memory import MemoryStore

MINUTE = 60_000


@pytest.fixture
async def store(world_clock):
    store = MemoryStore(wall=world_clock.now)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def world_clock():
    from tests.services.conftest import Clock

    return Clock()


@pytest.fixture
def world(store, world_clock):
    from tests.services.conftest import World

    return World(store, world_clock)


class Flawed(MemoryStore):
    """An index of it was dropped."""

    async def flaws(self):
        return [Flaw("the index claim is missing", "Make it")]


async def test_a_lost_index_is_broken_and_all_that_is_told():
    store = Flawed()
    [found] = await Checkup(store, "default").findings(0)
    assert (found.check, found.level) == ("indexes", Level.BROKEN)
    assert (found.text, found.remedy) == ("the index claim is missing", "Make it")


async def look(world, *, skew=0, fix=False):
    checkup = Checkup(world.store, "default")
    found = await checkup.findings(world.clock.now() + skew, fix=fix)
    return {each.check: each for each in found}


async def test_an_idle_store_without_workers_deserves_a_word(world):
    found = await look(world)
    assert found["workers"].level is Level.WARNING
    assert (found["store"].level, found["planner"].level) == (Level.OK, Level.OK)


async def test_jobs_without_workers_are_broken(world):
    await world.jobs.add(world.job(Every("1m")))
    assert (await look(world))["workers"].level is Level.BROKEN
    await world.store.beat(WORKER, TEN)
    assert (await look(world))["workers"].level is Level.OK
    world.clock.instant += 2 * MINUTE
    assert (await look(world))["workers"].level is Level.BROKEN


async def test_an_overdue_fire_time_means_no_planner(world):
    await world.jobs.add(world.job(Every("1m")))
    world.clock.instant += MINUTE + LATE + 1000
    found = (await look(world))["planner"]
    assert found.level is Level.BROKEN
    assert "overdue for 1m1s" in found.text


async def test_a_queue_that_nobody_takes_from_is_named(world):
    await world.jobs.add(world.job(OnDemand(), queue="mail"))
    await world.executions.trigger("default", "report")
    await world.store.promote(TEN, 0, 10)
    world.clock.instant += LATE + 1000
    await world.store.beat(WORKER, world.clock.now())
    found = (await look(world))["queues"]
    assert (found.level, found.text.endswith(": mail")) == (Level.BROKEN, True)


async def test_a_paused_queue_is_named_instead_of_asking_for_workers(world):
    await world.jobs.add(world.job(OnDemand()))
    await world.executions.trigger("default", "report")
    await world.store.promote(TEN, 0, 10)
    note = {"by": "ada", "why": "lunch", "since": TEN}
    pause = Record(kind=PAUSE_KIND, project=PAUSE_PROJECT, key="default", document=note)
    await world.store.put_record(pause, TEN)
    world.clock.instant += LATE + 1000
    await world.store.beat(WORKER, world.clock.now())
    found = await Checkup(world.store, "default").findings(world.clock.now())
    [told] = [each for each in found if each.check == "queues"]
    assert (told.level, told.text) == (Level.WARNING, "the queue default is paused: lunch")
    assert told.remedy.endswith("tickwell queues resume default")


async def test_workers_that_are_too_few(world):
    await world.jobs.add(world.job(OnDemand()))
    await world.executions.trigger("default", "report")
    await world.store.promote(TEN, 0, 10)
    world.clock.instant += LATE + 1000
    await world.store.beat(WORKER, world.clock.now())
    assert (await look(world))["queues"].level is Level.WARNING


async def test_dead_and_parked_are_counted(world):
    await world.jobs.add(world.job(OnDemand()))
    await world.executions.trigger("default", "report")
    await world.store.promote(TEN, 0, 10)
    await world.run(OutcomeKind.FAILED, retry=False)
    waiting = await world.executions.trigger("default", "report")
    await world.store.settle([waiting.id], {State.QUEUED, State.WAITING}, State.PARKED, "x", TEN)
    found = await look(world)
    assert found["dead letters"].text == "1 to look at"
    assert found["handlers"].text.startswith("1 parked")
    assert found["handlers"].remedy.endswith("tickwell serve --app module:scheduler")


async def test_a_run_that_workers_refuse_asks_for_other_settings(world):
    await world.jobs.add(world.job(OnDemand()))
    parked = await world.executions.trigger("default", "report")
    why = "no live worker may run it: plain http is not allowed here"
    await world.store.settle([parked.id], {State.QUEUED, State.WAITING}, State.PARKED, why, TEN)
    await world.store.beat(WORKER, TEN)
    found = (await look(world))["handlers"]
    assert found.remedy == "Change the settings of a worker, or the job"


async def test_a_clock_that_is_off_is_named_and_fixing_prunes(world):
    found = await look(world, skew=MINUTE, fix=True)
    assert found["store"].level is Level.WARNING
    assert "1m off" in found["store"].text
    assert found["history"].text == "0 old records were pruned"


async def test_jobs_that_another_program_may_have_paused_are_named(world):
    await world.jobs.add(world.job(Every("1m")))
    assert "declared jobs" not in await look(world)
    entry = await world.jobs.get("default", "report")
    await world.jobs.pause("default", [entry.job.id], by="app default", why=GONE)
    found = (await look(world))["declared jobs"]
    assert (found.level, found.text) == (Level.WARNING, "1 paused as gone from code: report")
    assert "Scheduler(app=" in found.remedy
