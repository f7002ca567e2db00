"""What has a better rank starts first, wherever it waits."""

from typing import Any

import pytest

from tests.unit.engine.rig import Rig
from tickwell.engine.claiming.lane import LOOK_AFTER, Lane
from tickwell.engine.claiming.ranked_queue import RankedQueue
from tickwell.testing.executors import FakeExecutor


class Ranked:
    def __init__(self, rank, name=""):
        self.rank, self.name = rank, name


async def step(rig):
    await rig.worker.step()
    await rig.settle()
    await rig.reporter.step()
    await rig.settle()


async def test_a_worker_that_knows_no_durations_claims_no_more_than_its_slots():
    rig = Rig(capacity=10, cold=True)
    low = await rig.add("low", priority=1)
    rig.executor.hold("quick")
    for _ in range(300):
        await rig.request(low)
    await rig.beat()
    for _ in range(5):
        await step(rig)
    assert await rig.running() == 10
    rig.executor.release("quick")
    await rig.settle()


async def test_the_best_rank_starts_next_behind_a_hand_full_of_others():
    executor = FakeExecutor("quick", "urgent")
    rig = Rig(capacity=10, executor=executor)
    low = await rig.add("low", priority=1)
    high = await rig.add("high", handler="urgent", priority=10)
    lane = next(iter(rig.worker.lanes))
    lane.observe(0.005)  # so far all were short
    executor.hold("quick")
    for _ in range(300):
        await rig.request(low)
    await rig.beat()
    await step(rig)
    assert len(lane.ready) == 290  # now they are long, and all are in hand
    id = await rig.request(high)
    await rig.clock.advance(LOOK_AFTER)
    await step(rig)
    assert lane.ready[0].claim.id == id
    executor.release("quick")
    await step(rig)
    assert executor.calls[10].id == id
    rig.worker.release_waiting()
    await rig.settle()


async def test_as_many_of_the_worst_are_given_back_as_a_look_claims():
    rig = Rig(capacity=10)
    lane = next(iter(rig.worker.lanes))
    job = await rig.add()
    lane.observe(0.005)
    rig.executor.hold("quick")
    for _ in range(2_000):
        await rig.request(job)
    await rig.beat()
    for _ in range(4):
        await step(rig)
    lane.observe(60)
    lane.mean = 60_000
    in_hand = lane.in_hand
    for _ in range(3):
        await rig.clock.advance(LOOK_AFTER)
        lane.moved_at = rig.clock.monotonic()  # slots come free, slowly
        await step(rig)
    assert lane.in_hand == in_hand
    assert lane.look_after > LOOK_AFTER  # in vain: the next look is later
    rig.worker.release_waiting()
    rig.executor.release("quick")
    await rig.settle()


def test_the_first_duration_counts_in_full():
    lane = Lane("task", capacity=100, batch=500, lead=0.5)
    lane.observe(0.4)
    assert (lane.mean, lane.ahead()) == (400, 125)


def test_a_burst_is_claimed_ahead_by_a_worker_that_runs_nothing_yet():
    lane = Lane("task", capacity=100, batch=500, lead=0.5)
    assert lane.room() == 100
    lane.in_hand = 100  # held for their instant
    assert lane.room() == 500
    lane.busy = 1
    assert lane.room() == 0


@pytest.mark.parametrize("joins", [[[3, 5], [1, 4]], [[5, 3, 4], [1]], [[1, 3, 4], [5]]])
def test_a_line_is_in_order_of_rank(joins):
    line: Any = RankedQueue()
    for ranks in joins:
        line.join([Ranked(rank) for rank in ranks])
    ranks = [one.rank for one in line]
    assert ranks == sorted(rank for each in joins for rank in each)


def test_of_the_same_rank_the_first_stays_first():
    line: Any = RankedQueue()
    line.join([Ranked(1, "a"), Ranked(1, "b")])
    line.join([Ranked(0, "c"), Ranked(1, "d")])
    assert [one.name for one in line] == ["c", "a", "b", "d"]
