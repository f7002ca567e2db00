"""Declared jobs that are over: recorded as finished, and no hindrance to the program."""

from datetime import UTC, datetime, timedelta

import pytest

from tests.servers import mariadb_tables, mongo, redis_keys, schemas
from tickwell import Every, Once, Scheduler
from tickwell.clock import to_datetime
from tickwell.declared.internals import internals
from tickwell.domain.job import JobState
from tickwell.domain.removed import REMOVED_KIND
from tickwell.engine.liveness.housekeeping import Housekeeping
from tickwell.errors import InvalidTrigger
from tickwell.events import JobOver
from tickwell.stores.memory import MemoryStore
from tickwell.testing import ManualClock

YESTERDAY = datetime(2020, 1, 1, tzinfo=UTC)


class World:
    """One store through several deployments, in a time that the test moves."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.store = MemoryStore(self.clock.now)
        self.ran: list[str] = []
        self.over: list[str] = []

    def deploy(self, name: str, trigger, **policies) -> Scheduler:
        scheduler = Scheduler("memory://", app="shop")
        internals(scheduler).live_on(self.store, self.clock, scheduler.settings, claims_loop=True)
        scheduler.on(JobOver)(lambda event: self.over.append(event.job))

        async def work() -> None:
            self.ran.append(name)

        scheduler.job(trigger, name=name, **policies)(work)
        return scheduler

    async def tidy(self, scheduler: Scheduler) -> None:
        """What the reaper does once a minute."""
        house = Housekeeping(
            self.store, self.clock, internals(scheduler).events, scheduler.settings
        )
        await house.run([])


@pytest.fixture
def world():
    return World()


@pytest.mark.parametrize("trigger", [Once(YESTERDAY), Every("1h", until=YESTERDAY)])
@pytest.mark.parametrize("auto_remove", [False, True])
async def test_a_job_without_a_fire_time_left_is_finished_at_every_start(
    world, trigger, auto_remove
):
    for _ in range(3):
        scheduler = world.deploy("greet", trigger, auto_remove=auto_remove)
        await scheduler.sync()
        assert (await scheduler.get_job("greet")).state is JobState.FINISHED
        await world.tidy(scheduler)
        known = [job.name for job in await scheduler.jobs()]
        assert known == ([] if auto_remove else ["greet"])
        await scheduler.stop()
    assert world.over == ["greet"]  # said once, not at every start


async def test_an_edit_by_code_may_end_a_job(world):
    await world.deploy("greet", Every("1h")).sync()
    synced = await world.deploy("greet", Once(YESTERDAY)).sync()
    assert (synced.edited, synced.over) == (["greet"], ["greet"])


async def test_a_person_is_still_told_that_the_moment_is_past(world):
    scheduler = world.deploy("greet", Every("1h"))
    await scheduler.sync()
    with pytest.raises(InvalidTrigger, match="is past"):
        await scheduler.edit_job("greet", trigger=Once(YESTERDAY))


async def test_max_runs_holds_across_removal_and_deployments(world):
    for _ in range(3):
        async with world.deploy("greet", Every("1m", max_runs=2), auto_remove=True) as scheduler:
            for _ in range(4):
                await world.clock.advance(60)
            await world.tidy(scheduler)
            assert await scheduler.jobs() == []
    assert world.ran == ["greet"] * 2
    async with world.deploy("greet", Every("1m", max_runs=3), auto_remove=True):
        for _ in range(4):
            await world.clock.advance(60)
    assert world.ran == ["greet"] * 3


async def test_another_app_does_not_inherit_the_count(world):
    async with world.deploy("greet", Every("1m", max_runs=1), auto_remove=True) as scheduler:
        await world.clock.advance(120)
        await world.tidy(scheduler)
    record = await world.store.get_record(REMOVED_KIND, "default", "greet", world.clock.now())
    assert record.document == {"app": "shop", "runs": 1}
    other = Scheduler("memory://", app="mail")
    internals(other).live_on(world.store, world.clock, other.settings, claims_loop=True)

    @other.job(Every("1m", max_runs=1))
    async def greet() -> None: ...

    await other.sync()
    assert (await other.get_job("greet")).runs == 0


async def test_one_that_was_removed_can_still_be_triggered(world):
    moment = to_datetime(world.clock.now()) + timedelta(minutes=1)
    async with world.deploy("greet", Once(moment), auto_remove=True) as scheduler:
        await world.clock.advance(120)
        await world.tidy(scheduler)
        assert await scheduler.jobs() == []
        await scheduler.trigger("greet")
        await world.clock.advance(10)
    assert world.ran == ["greet"] * 2


def store_of_file(folder):
    return f"sqlite:///{folder}/jobs.db"


def store_on_postgres(_folder):
    schemas.empty_now("over")
    return schemas.url("over")


def store_on_mysql(_folder):
    mariadb_tables.empty_now("over_")
    return mariadb_tables.url("over_")


def store_on_mongo(_folder):
    url = mongo.server().url("over")
    mongo.empty(url)
    return url


def store_on_redis(_folder):
    redis_keys.empty("over")
    return redis_keys.url("over")


@pytest.mark.parametrize(
    "store", [store_of_file, store_on_postgres, store_on_mysql, store_on_mongo, store_on_redis]
)
@pytest.mark.parametrize("auto_remove", [False, True])
def test_the_program_starts_with_a_real_store(store, auto_remove, tmp_path):
    url = store(tmp_path)
    for _ in range(2):
        scheduler = Scheduler(url)

        @scheduler.job(Once(YESTERDAY), auto_remove=auto_remove)
        def once() -> None: ...

        @scheduler.job(Every("1h", until=YESTERDAY), auto_remove=auto_remove)
        def every() -> None: ...

        scheduler.start_in_background()
        try:
            known = {job.name: job.state for job in scheduler.blocking.jobs()}
        finally:
            scheduler.blocking.stop()
        # What is removed once it is over may be gone by the time we look.
        states = {"once": JobState.FINISHED, "every": JobState.FINISHED}
        assert known.items() <= states.items() if auto_remove else known == states
