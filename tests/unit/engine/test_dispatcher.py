from collections import Counter
from dataclasses import replace
from typing import Any

import pytest

from tests.unit.engine.rig import Rig
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.domain.queue import PAUSE_KIND, PAUSE_PROJECT
from tickwell.domain.worker import Worker as Known
from tickwell.engine.hints import dispatcher as module
from tickwell.engine.hints.dispatcher import (
    AGAIN,
    AHEAD,
    KIND,
    LEASE,
    LONGEST,
    LOOK,
    PER_SEAT,
    Dispatcher,
)
from tickwell.errors import BrokerUnavailable
from tickwell.ports.records import ClaimRequest, Record


class FakeBroker:
    """First in, first out; a test takes messages away, or the whole broker."""

    def __init__(self):
        self.waiting = []
        self.away = False

    async def depths(self, queues):
        self._answer()
        counts = Counter(hint.queue for hint in self.waiting)
        return [counts[queue] for queue in queues]

    async def send(self, hints):
        self._answer()
        self.waiting += hints

    def close(self):
        self.away = True

    def _answer(self):
        if self.away:
            raise BrokerUnavailable("away")

    def take(self, count=None):
        taken, self.waiting = self.waiting[:count], self.waiting[len(self.waiting[:count]) :]
        return [hint.id for hint in taken]


@pytest.fixture
async def rig():
    rig: Any = Rig(queues=("default", "mail"))
    rig.broker = FakeBroker()
    rig.dispatcher = Dispatcher(rig.store, rig.clock, rig.settings, rig.broker)
    rig.job = await rig.add()
    await introduce(rig)
    return rig


async def introduce(rig, *abilities, id="w", queues=("default", "mail"), capacity=100):
    now = rig.clock.now()
    can = abilities or ("call:quick",)
    known = Known(
        id=id, host="", pid=1, queues=queues, abilities=can, capacity=capacity, started_at=0
    )
    await rig.memory.beat(known, now)


async def step(rig, after=1.0):
    await rig.clock.advance(after)
    return await rig.dispatcher.step()


async def claim(rig, *ids):
    request = ClaimRequest(
        worker="w",
        claim_id=f"{ids}",
        now=rig.clock.now(),
        lead=0,
        limit=100,
        queues=("default",),
        abilities=frozenset({"call:quick"}),
        ids=ids,
    )
    return await rig.memory.claim(request)


async def test_each_execution_gets_one_hint(rig):
    ids = sorted([await rig.request(rig.job) for _ in range(3)])  # of one instant
    await step(rig)
    await step(rig)
    assert rig.broker.take() == ids


async def test_a_hint_is_sent_a_moment_ahead_and_no_sooner(rig):
    id = await rig.request(rig.job, in_seconds=60)
    rest = await step(rig, 0)
    assert rig.broker.waiting == []
    assert rest <= rig.settings.poll
    await step(rig, 60 - AHEAD / 1000 - 0.001)
    assert rig.broker.waiting == []
    await step(rig, 0.001)
    assert rig.broker.take() == [id]


async def test_it_rests_until_the_next_one_comes_due(rig):
    await rig.request(rig.job, in_seconds=2)
    assert await step(rig, 0) == pytest.approx(2 - AHEAD / 1000)


async def test_what_waits_in_the_broker_is_not_sent_again(rig):
    ids = sorted([await rig.request(rig.job) for _ in range(3)])  # of one instant
    for _ in range(5):
        await step(rig, LONGEST)
    assert rig.broker.take() == ids


async def test_a_hint_that_is_lost_is_sent_again_and_again_later_each_time(rig):
    id = await rig.request(rig.job)
    await step(rig)
    assert rig.broker.take() == [id]
    waits = []
    for _ in range(7):
        waited = 0.0
        while not rig.broker.waiting:
            await step(rig, AGAIN / 2)
            waited += AGAIN / 2
        assert rig.broker.take() == [id]
        waits.append(waited)
    assert waits == [1, 2, 4, 8, 16, LONGEST, LONGEST]


async def test_a_flushed_broker_gets_all_of_them_again(rig):
    ids = sorted([await rig.request(rig.job) for _ in range(50)])  # of one instant
    await step(rig)
    await step(rig, 60)  # a backlog: nobody has taken one for a while
    assert rig.broker.take() == ids
    await step(rig)
    assert rig.broker.take() == ids


async def test_what_is_claimed_is_forgotten(rig):
    ids = sorted([await rig.request(rig.job) for _ in range(3)])  # of one instant
    await step(rig)
    rig.broker.take()
    assert len(await claim(rig, *ids[:2])) == 2
    await step(rig, LONGEST)
    assert rig.broker.take() == ids[2:]
    assert len(rig.dispatcher._lines["default"].sent) == 1


async def test_no_more_waits_than_the_slots_of_the_workers_need_and_the_best_come_first(rig):
    assert PER_SEAT == 2
    await introduce(rig, capacity=3)
    ids = sorted([await rig.request(rig.job) for _ in range(12)])  # of one instant
    for _ in range(3):
        await step(rig)
    assert rig.broker.take(2) == ids[:2]
    await claim(rig, *ids[:2])
    await step(rig)
    assert len(rig.broker.waiting) == 4  # more than half of it waits: not worth a look
    assert rig.broker.take(1) == ids[2:3]
    await claim(rig, ids[2])
    await step(rig)
    assert rig.broker.take() == ids[3:9]


async def test_what_nobody_can_run_gets_no_hint(rig):
    other = await rig.add("other", "other")
    id = await rig.request(other)
    await step(rig)
    assert rig.broker.waiting == []
    await introduce(rig, "call:quick", "call:other")
    await step(rig)
    assert rig.broker.take() == [id]


async def test_what_no_worker_of_its_queue_can_run_gets_no_hint(rig):
    letter = await rig.add("letter", "write", queue="mail")
    id = await rig.request(letter)
    await introduce(rig, "call:write", id="other", queues=("default",))
    await step(rig)
    assert rig.broker.waiting == []
    await introduce(rig, "call:write", id="third", queues=("mail",))
    await step(rig)
    assert rig.broker.take() == [id]


async def pause(rig, *queues):
    for queue in queues:
        record = Record(kind=PAUSE_KIND, project=PAUSE_PROJECT, key=queue, document={})
        await rig.memory.put_record(record, rig.clock.now())


async def test_a_paused_queue_gets_no_hint(rig):
    await pause(rig, "default")
    await rig.request(rig.job)
    await step(rig)
    assert rig.broker.waiting == []


async def test_a_paused_queue_does_not_wake_the_dispatcher(rig):
    await pause(rig, "default")
    await step(rig)
    await rig.request(rig.job, in_seconds=0.3)
    assert await step(rig, 0) == LOOK  # when the pause is looked at again
    await pause(rig, "mail")
    await step(rig)
    asked = len(rig.store.named("next_wakeup"))
    rig.broker.away = True
    await step(rig)  # with every queue paused neither store nor broker is asked
    assert len(rig.store.named("next_wakeup")) == asked


async def test_a_crowd_in_one_queue_keeps_no_other_waiting(rig):
    await introduce(rig, capacity=2)
    for _ in range(20):
        await rig.request(rig.job)
    mail = await rig.request(await rig.add("letter", queue="mail"))
    await step(rig)
    assert [hint.id for hint in rig.broker.waiting if hint.queue == "mail"] == [mail]


async def test_while_the_broker_is_away_nothing_is_forgotten(rig):
    ids = sorted([await rig.request(rig.job) for _ in range(3)])  # of one instant
    rig.broker.away = True
    for _ in range(3):
        with pytest.raises(BrokerUnavailable):
            await step(rig)
    rig.broker.away = False
    await step(rig)
    assert rig.broker.take() == ids


async def test_one_dispatcher_at_a_time(rig, monkeypatch):
    id = await rig.request(rig.job)
    other: Any = Dispatcher(rig.store, rig.clock, rig.settings, FakeBroker())
    other.process = "another machine's"
    await other.step()
    await step(rig)
    assert rig.broker.waiting == []
    assert other.broker.take() == [id]
    await step(rig, LEASE)
    assert rig.broker.take() == [id]
    monkeypatch.setattr(module, "is_gone", lambda process: process == rig.dispatcher.process)
    await rig.clock.advance(LEASE / 2)
    await other.step()
    assert other._leads_until > rig.clock.monotonic()


async def test_a_dispatcher_that_takes_over_a_full_queue_looks_again_soon(rig):
    ids = [await rig.request(rig.job) for _ in range(PER_SEAT * 100 + 1)]
    await step(rig)
    await rig.dispatcher.close()
    rig.broker.away = False
    second = Dispatcher(rig.store, rig.clock, rig.settings, rig.broker)
    assert await second.step() <= AGAIN / 4
    assert len(rig.broker.take()) == len(ids) - 1


async def test_a_dispatcher_that_closes_releases_its_lease(rig):
    id = await rig.request(rig.job)
    await step(rig)
    await rig.dispatcher.close()
    assert rig.broker.away
    other: Any = Dispatcher(rig.store, rig.clock, rig.settings, FakeBroker())
    other.process = "another machine's"
    await other.step()
    assert other.broker.take() == [id]
    await rig.dispatcher.close()  # the lease of another stays
    assert await rig.memory.list_records(KIND, PLATFORM_PROJECT, "", rig.clock.now())


async def test_the_lease_of_another_is_not_read_at_each_wake_up(rig):
    other: Any = Dispatcher(rig.store, rig.clock, rig.settings, FakeBroker())
    other.process = "another machine's"
    await other.step()
    await step(rig)
    asked = len(rig.store.named("get_record"))
    for _ in range(10):
        rest = await step(rig, 0.1)
    assert len(rig.store.named("get_record")) == asked
    assert rest == pytest.approx(LEASE / 2 - 1)


async def test_dispatchers_of_other_queues_have_a_lease_of_their_own(rig):
    """Otherwise a planner of other queues would keep this one from sending."""
    id = await rig.request(rig.job)
    settings = replace(rig.settings, queues=("mail",))
    other: Any = Dispatcher(rig.store, rig.clock, settings, FakeBroker())
    other.process = "another machine's"
    await other.step()
    await step(rig)
    assert rig.broker.take() == [id]


async def test_a_lease_without_proc_is_told_apart_by_host_and_process_id(rig, monkeypatch):
    monkeypatch.setattr(module, "own_process", lambda: "")
    first: Any = Dispatcher(rig.store, rig.clock, rig.settings, FakeBroker())
    monkeypatch.setattr(module, "getpid", lambda: 0)
    second: Any = Dispatcher(rig.store, rig.clock, rig.settings, FakeBroker())
    id = await rig.request(rig.job)
    await first.step()
    await second.step()
    assert (first.broker.take(), second.broker.take()) == ([id], [])
    await rig.clock.advance(LEASE)
    await second.step()
    assert second.broker.take() == [id]
