"""Queue depth is sampled once a minute, whatever the number of processes."""

from collections import Counter

import pytest

from tickwell.domain import depth
from tickwell.domain.depth import KINDS, Depths, depth_key
from tickwell.domain.execution import State
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.domain.job import Entry
from tickwell.domain.planning import first_cursor
from tickwell.domain.policy import HOUR
from tickwell.domain.tally import HOURS, MINUTES
from tickwell.domain.trigger import OnDemand
from tickwell.engine.charts import depth_sampler
from tickwell.engine.charts.depth_sampler import DepthSampler
from tickwell.ports.records import QueueLength
from tickwell.stores.memory import MemoryStore
from tickwell.testing import ManualClock
from tickwell.testing.contract.builders import T0, a_job, a_request


class Backlog(MemoryStore):
    """A store whose due executions a test names: (project, queue)."""

    def __init__(self):
        super().__init__()
        self.due = []
        self.samples = 0
        self.meanwhile = None

    async def queue_lengths(self, now):
        self.samples += 1
        if self.meanwhile is not None:
            await self.meanwhile()
        return [
            QueueLength(project, queue, State.QUEUED, count, count)
            for (project, queue), count in Counter(self.due).items()
        ]


@pytest.fixture
def store():
    return Backlog()


@pytest.fixture
def clock():
    return ManualClock(T0)


async def depths(store, clock, period=MINUTES):
    start = clock.now() // period.length * period.length
    key = depth_key(period, start)
    record = await store.get_record(KINDS[period], PLATFORM_PROJECT, key, clock.now())
    return Depths.from_document(record.document)


async def test_two_processes_take_one_sample_a_minute(store, clock):
    store.due = [("default", "mail"), ("default", "mail"), ("other", "default")]
    samplers = [DepthSampler(store, clock, owner) for owner in ("one", "two")]
    rests = [await each.step() for each in samplers]
    assert store.samples == 1
    found = await depths(store, clock)
    assert found.of("default") == 2
    assert (found.of("default", "mail"), found.of("default", "default")) == (2, 0)
    assert (found.of("other"), found.of("third"), found.of(None)) == (1, 0, 3)
    assert all(0 < rest <= 80 for rest in rests)
    await clock.advance(max(rests))
    for each in samplers:
        await each.step()
    assert store.samples == 2


async def test_an_hour_keeps_the_highest(store, clock):
    clock.instant = T0 // HOUR * HOUR
    sampler = DepthSampler(store, clock, "one")
    for count in (1, 4, 2):
        store.due = [("default", "mail")] * count
        await clock.advance(await sampler.step())
    assert (await depths(store, clock, HOURS)).of("default") == 4


async def test_an_hour_keeps_the_highest_sum_and_not_the_sum_of_the_highest(store, clock):
    clock.instant = T0 // HOUR * HOUR
    sampler = DepthSampler(store, clock, "one")
    for mail, slow in ((4, 1), (1, 4)):
        store.due = [("default", "mail")] * mail + [("other", "slow")] * slow
        await clock.advance(await sampler.step())
    found = await depths(store, clock, HOURS)
    assert (found.of("default", "mail"), found.of(None, "slow"), found.of(None)) == (4, 4, 5)


async def test_of_very_many_queues_the_deepest_are_on_record(store, clock, monkeypatch):
    monkeypatch.setattr(depth, "MOST", 6)
    store.due = [("a", "mail")] * 3 + [("a", "slow")] * 2 + [("b", "rare")]
    await DepthSampler(store, clock, "one").step()
    found = await depths(store, clock)
    assert (found.of(None), found.of("a"), found.of("a", "mail")) == (6, 5, 3)
    assert found.of("b", "rare") is None


async def test_what_is_running_or_to_come_is_no_depth(clock):
    store = MemoryStore()
    job = a_job(trigger=OnDemand())
    await store.add_jobs([Entry(job, first_cursor(job, T0))], T0)
    await store.add_executions([a_request(job, T0), a_request(job, T0 + HOUR)], T0, 0)
    await DepthSampler(store, clock, "one").step()
    assert (await depths(store, clock)).of(None) == 1


async def backlog_of_jobs(clock, counts):
    """A store in which so many executions of each job are due."""
    store = MemoryStore()
    for name, count in counts.items():
        job = a_job(id=name, name=name, trigger=OnDemand())
        await store.add_jobs([Entry(job, first_cursor(job, T0))], T0)
        await store.add_executions([a_request(job, T0) for _ in range(count)], T0, 0)
    await store.add_executions([a_request(job, T0 + HOUR)], T0, 0)
    return store


async def test_jobs_are_counted_as_well(clock):
    store = await backlog_of_jobs(clock, {"report": 3, "mail": 1})
    await DepthSampler(store, clock, "one").step()
    for period in (MINUTES, HOURS):
        found = await depths(store, clock, period)
        assert [found.of_job(id) for id in ("report", "mail", "other")] == [3, 1, 0]


async def test_of_a_long_backlog_the_deepest_jobs_are_on_record(clock, monkeypatch):
    monkeypatch.setattr(depth, "MOST_JOBS", 1)
    store = await backlog_of_jobs(clock, {"report": 3, "mail": 1})
    await DepthSampler(store, clock, "one").step()
    found = await depths(store, clock)
    assert [found.of_job(id) for id in ("report", "mail")] == [3, None]


async def test_what_is_not_looked_at_is_unknown_by_job(clock, monkeypatch):
    monkeypatch.setattr(depth_sampler, "_LOOKED_AT", 2)
    store = await backlog_of_jobs(clock, {"mail": 1, "report": 3})
    await DepthSampler(store, clock, "one").step()
    found = await depths(store, clock)
    assert found.of("default") == 4
    assert sum(found.jobs.values()) == 2
    assert found.of_job("other") is None


def test_a_sample_from_before_jobs_were_counted_says_nothing_of_them():
    assert Depths.from_document({"projects": {}, "complete": True}).of_job("report") is None


async def test_a_process_that_loses_the_race_changes_nothing(store, clock):
    winner = DepthSampler(store, clock, "two")
    store.due = [("default", "mail")]

    async def overtake():
        store.meanwhile = None
        await winner.step()
        store.due = []

    store.meanwhile = overtake
    await DepthSampler(store, clock, "one").step()
    assert store.samples == 2
    assert (await depths(store, clock)).of("default") == 1


async def test_a_sampler_rests_as_long_as_it_is_told_to(store, clock):
    hour = HOUR / 1000
    assert await DepthSampler(store, clock, "one", shortest_rest=hour).step() == hour
