"""Figures of the store: honest, and read once for everybody."""

import asyncio
from collections import Counter

import pytest

from tickwell.clock import StoreClock
from tickwell.domain.execution import State
from tickwell.domain.job import Entry
from tickwell.domain.planning import first_cursor, plan
from tickwell.domain.policy import MINUTE
from tickwell.domain.queue import PAUSE_PROJECT
from tickwell.domain.trigger import Every, OnDemand
from tickwell.errors import InvalidSetting, StoreUnavailable
from tickwell.observe.metrics import store_figures
from tickwell.observe.metrics.store_figures import KIND, Figures, QueueLengths, StoreFigures
from tickwell.ports.records import Record
from tickwell.settings import Settings
from tickwell.stores.memory import MemoryStore
from tickwell.testing.contract.builders import a_job, a_request, a_worker


class Counted(MemoryStore):
    """Says how often it was asked, and is away when told so."""

    def __init__(self):
        super().__init__()
        self.calls: Counter[str] = Counter()
        self.away = False

    async def stats(self, project=None):
        self.calls["stats"] += 1
        if self.away:
            raise StoreUnavailable("away")
        return await super().stats(project)

    async def queue_lengths(self, now):
        self.calls["queue_lengths"] += 1
        return await super().queue_lengths(now)


@pytest.fixture
async def store():
    made = Counted()
    await made.open()
    yield made
    await made.close()


def figures(store, life=60.0, **options):
    lengths = options.pop("lengths", None) or QueueLengths(StoreClock(), life)
    return StoreFigures(
        store, StoreClock(), life=life, lengths=lengths, **({"job_times": 0} | options)
    )


async def test_ten_scrapers_and_two_processes_read_once(store):
    here, there = figures(store), figures(store)
    first, *rest = await asyncio.gather(*(here.read() for _ in range(10)))
    assert all(each is first for each in rest)
    assert (await there.read()).at == first.at
    assert store.calls["stats"] == 1


async def test_figures_of_another_version_or_of_a_later_time_are_not_taken(store):
    now = StoreClock().now()
    later = Figures(at=now + MINUTE, unanswered=7).to_document()
    for document in ({"at": now}, later, {**later, "at": now, "more": 1}):
        record = Record(kind=KIND, project=PAUSE_PROJECT, key="store/0", document=document)
        await store.put_record(record, now)
        here = figures(store)
        assert (await here.read()).unanswered == 0
        assert here.is_up


async def test_figures_that_are_too_old_are_read_again(store):
    here = figures(store, life=0.0)
    first, second = await here.read(), await here.read()
    assert store.calls["stats"] == 2
    assert second.at >= first.at


async def test_without_the_store_there_are_none(store):
    here = figures(store, life=0.0)
    assert await here.read() is not None
    store.away = True
    assert await here.read() is None
    assert not here.is_up
    store.away = False
    assert await here.read() is not None
    assert here.is_up


async def test_fire_times_without_a_record_are_counted(store):
    clock = StoreClock()
    now = clock.now()
    job = a_job(trigger=Every("10s"), created_at=now - MINUTE, saved_at=now - MINUTE)
    fine = a_job(trigger=Every("10s"), created_at=now, saved_at=now)
    await store.add_jobs([Entry(job, first_cursor(job, now - MINUTE))], now)
    await store.add_jobs([Entry(fine, first_cursor(fine, now))], now)
    here = figures(store, life=0.0)
    # Of the six fire times of the last minute the newest is within the grace.
    assert (await here.read()).unanswered == 5
    await store.fire_due(now, 0, 100, lambda job, cursor: plan(job, cursor, now, 0))
    assert (await here.read()).unanswered == 0


async def test_fire_times_without_a_record_are_counted_up_to_a_limit(store, monkeypatch):
    monkeypatch.setattr(store_figures, "MOST_MISSED", 8)
    now = StoreClock().now()
    for _ in range(2):
        job = a_job(trigger=Every("10s"), created_at=now - MINUTE, saved_at=now - MINUTE)
        await store.add_jobs([Entry(job, first_cursor(job, now - MINUTE))], now)
    assert (await figures(store).read()).unanswered == 8  # of all jobs together


async def test_a_process_whose_beats_are_missing_is_no_live_one(store):
    now = StoreClock().now()
    for id, beat in (("alive", 60_000), ("silent", 5_000)):
        await store.beat(a_worker(id, beat_every=beat), now - 20_000)
    read = await figures(store).read()
    assert (read.roles["worker"], read.capacity) == (1, 10)


async def test_others_have_their_turn_while_many_are_counted(store):
    now = StoreClock().now()
    for n in range(5):
        job = a_job(f"job {n}", trigger=Every("10s"), created_at=now - MINUTE, saved_at=now)
        await store.add_jobs([Entry(job, first_cursor(job, now - MINUTE))], now)
    turns = 0

    async def other():
        nonlocal turns
        while True:
            turns += 1
            await asyncio.sleep(0)

    task = asyncio.create_task(other())
    assert (await figures(store).read()).unanswered == 25
    task.cancel()
    assert turns > 5


async def test_queues_are_shown_with_all_their_states(store):
    clock = StoreClock()
    now = clock.now()
    job = a_job(trigger=OnDemand(), queue="mail")
    await store.add_jobs([Entry(job, first_cursor(job, now))], now)
    runs = [a_request(job, now - 1), a_request(job, now + MINUTE)]
    await store.add_executions(runs, now, 0)
    read = await figures(store).read()
    found = {(queue, state): (count, due) for queue, state, count, due in read.queues}
    waits = found["mail", "waiting"], found["mail", "queued"]
    assert tuple(map(sum, zip(*waits, strict=True))) == (2, 1)
    assert found["mail", "running"] == found["mail", "parked"] == (0, 0)
    assert read.executions["succeeded"] == 0
    assert read.jobs == {"active": 1, "paused": 0, "finished": 0}


async def test_times_of_jobs_are_read_only_if_asked_for(store):
    now = StoreClock().now()
    jobs = [a_job(f"job {n}", created_at=now, saved_at=now) for n in range(3)]
    await store.add_jobs([Entry(job, first_cursor(job, now)) for job in jobs], now)
    assert (await figures(store).read()).times == []
    read = await figures(store, job_times=2).read()
    assert [each.job for each in read.times] == ["job 0", "job 1"]
    assert all(each.fires_at > now and each.succeeded_at is None for each in read.times)


async def test_a_project_sees_its_own(store):
    now = StoreClock().now()
    mine = a_job(trigger=OnDemand(), project="mine", queue="secret")
    await store.add_jobs([Entry(mine, first_cursor(mine, now))], now)
    await store.add_executions([a_request(mine, now)], now, 0)
    lengths = QueueLengths(StoreClock(), 60.0)
    other = await figures(store, project="other", lengths=lengths).read()
    assert (other.queues, sum(other.executions.values()), sum(other.jobs.values())) == ([], 0, 0)
    own = await figures(store, project="mine", lengths=lengths).read()
    assert {queue for queue, *_ in own.queues} == {"secret"}
    assert sum(own.executions.values()) == 1
    assert State.DEAD in own.executions
    assert store.calls["queue_lengths"] == 1


def test_metrics_of_single_jobs_are_a_thousand_at_most():
    assert Settings(metrics_jobs=1000).metrics_jobs == 1000
    with pytest.raises(InvalidSetting, match=r"metrics_jobs.*1000 at most"):
        Settings(metrics_jobs=1001)
