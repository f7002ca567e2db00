import asyncio

import pytest

from tests.unit.engine.rig import Rig
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.policy import Retry, Timeout
from tickwell.testing.executors import succeeds

LIMITS = Timeout(soft="2s", hard="5s")


@pytest.fixture
async def started(rig):
    """Start an attempt of what the test scripts; time passes in steps of the wheel."""

    async def start(act, limits=LIMITS):
        rig.executor.script("quick", act)
        job = await rig.add(timeout=limits, retry=Retry(max_attempts=1))
        rig.id = await rig.request(job)
        await rig.beat()
        await rig.worker.step()
        await rig.settle()
        return rig

    return start


async def pass_time(rig, seconds):
    for _ in range(round(seconds / 0.1)):
        await rig.clock.advance(0.1)
        await rig.runner.deadlines.step()
        await rig.settle()


def stubborn(rig):
    async def act(claim):
        while not rig.let_go.is_set():
            try:
                await rig.let_go.wait()
            except asyncio.CancelledError:
                rig.asked += 1
        return succeeds()

    return act


async def forever(claim):
    await asyncio.Event().wait()
    return succeeds()


async def test_the_soft_timeout_cancels(rig, started):
    await started(forever)
    await pass_time(rig, 1.9)
    assert rig.reporter.backlog == 0
    await pass_time(rig, 0.3)
    await rig.reporter.step()
    one = await rig.one(rig.id)
    assert one.attempts[0].outcome is OutcomeKind.TIMED_OUT
    assert one.error == "timed out after 2 s"
    assert [lane.busy for lane in rig.worker.lanes] == [0]


async def test_the_hard_timeout_ends_what_swallows_the_cancellation_and_its_slot_stays_taken(
    rig, started
):
    await started(stubborn(rig))
    await pass_time(rig, 4.5)
    assert rig.asked == 1
    assert rig.reporter.backlog == 0
    await pass_time(rig, 1.0)
    await rig.reporter.step()
    assert await rig.state(rig.id) is State.DEAD
    (lane,) = rig.worker.lanes
    assert (lane.busy, lane.abandoned, lane.in_hand) == (1, 1, 0)
    rig.let_go.set()
    await rig.settle()
    assert (lane.busy, lane.abandoned) == (0, 0)
    assert rig.reporter.backlog == 0  # what it returns counts for nothing


async def test_the_hard_timeout_ends_what_was_cancelled_on_request_as_well(rig, started):
    await started(stubborn(rig))
    rig.runner.cancel(rig.id, 1)
    await pass_time(rig, 5.5)
    await rig.reporter.step()
    assert await rig.state(rig.id) is State.CANCELLED
    rig.let_go.set()
    await rig.settle()


async def test_soft_and_hard_may_be_one(rig, started):
    await started(stubborn(rig), Timeout(soft="1s", hard="1s"))
    await pass_time(rig, 1.2)
    assert rig.reporter.backlog == 1
    rig.let_go.set()
    await rig.settle()


async def test_what_ends_in_time_is_forgotten(rig, started):
    await started(succeeds())
    assert rig.runner.deadlines._buckets
    await rig.runner.deadlines.step()
    assert not any(rig.runner.deadlines._buckets.values())


async def test_the_wheel_rests_until_the_next_deadline(rig, started):
    await started(forever)
    rest = await rig.runner.deadlines.step()
    assert 2.0 <= rest <= 2.1


async def test_a_full_lane_of_tasks_that_never_end_claims_nothing(rigs):
    rig = rigs(capacity=2, lead=0.5)
    rig.executor.script("quick", stubborn(rig))
    job = await rig.add(timeout=LIMITS, retry=Retry(max_attempts=1))
    await rig.beat()
    for _ in range(2):
        await rig.request(job)
    await rig.worker.step()
    await pass_time(rig, 6)
    await rig.reporter.step()
    waiting = await rig.request(job)
    for _ in range(12):
        await rig.beat()
        await rig.worker.step()
        await rig.clock.advance(1)
    assert (await rig.one(waiting)).attempt == 0
    rig.let_go.set()
    await rig.settle()


@pytest.mark.parametrize(("waited", "runs"), [(44, 2), (46, 1)])
async def test_an_attempt_without_time_for_its_timeout_is_given_back(waited, runs):
    """It would be taken for lost while it runs, and run again though it succeeded."""
    rig = Rig(lease=300, beat=10, capacity=1, lead=60, horizon=60)
    job = await rig.add()
    rig.executor.hold("quick")
    ids = [await rig.request(job), await rig.request(job)]
    await rig.beat()
    await rig.worker.step()
    await rig.clock.advance(waited)
    rig.executor.release("quick")
    await rig.settle()
    assert len(rig.executor.calls) == runs
    await rig.reporter.step()
    last = (await rig.one(ids[1])).attempts[0]
    assert last.outcome is (OutcomeKind.SUCCEEDED if runs == 2 else OutcomeKind.RELEASED)
