"""What a worker may not run by its settings it leaves to others; nobody else is hurt by it."""

import pytest

from tests.unit.engine.rig import Rig
from tickwell.domain.execution import OutcomeKind, State
from tickwell.domain.outcome import Outcome
from tickwell.domain.policy import Delivery
from tickwell.engine.claiming.refusals import LOOK, MOST
from tickwell.testing.executors import FakeExecutor

WHY = "plain http is not allowed here"


class Strict(FakeExecutor):
    """May run nothing, until its settings are others."""

    why = WHY

    async def refusal(self, _job):
        return self.why

    async def run(self, claim):
        if self.why:
            return Outcome(kind=OutcomeKind.RELEASED, error=self.why, not_here=True)
        return await super().run(claim)


@pytest.fixture
async def strict():
    rig = Rig(executor=Strict("quick", "other"))
    await rig.beat()
    return rig


async def work(rig):
    """Claim, run, and report."""
    await rig.worker.step()
    await rig.settle()
    await rig.reporter.step()


async def test_what_is_refused_goes_back_uncharged_and_is_not_claimed_again(strict):
    id = await strict.request(await strict.add(delivery=Delivery.AT_MOST_ONCE))
    other = await strict.request(await strict.add("other"))
    for _ in range(3):
        await work(strict)
    found = [await strict.one(each) for each in (id, other)]
    assert [one.state for one in found] == [State.QUEUED] * 2
    assert [(one.attempt, one.charged, one.returned) for one in found] == [(1, 0, 0)] * 2


async def test_a_worker_that_may_run_it_does(strict):
    id = await strict.request(await strict.add())
    await work(strict)
    await strict.memory.promote(strict.clock.now(), 0, 10)
    other = Rig(clock=strict.clock, memory=strict.memory, seed=2)
    await other.beat()
    await strict.beat()
    await strict.clock.advance(60)
    await other.beat()
    await other.reaper.step()
    assert await strict.state(id) is State.QUEUED  # somebody may run it
    await work(other)
    one = await strict.one(id)
    assert (one.state, one.charged) == (State.SUCCEEDED, 1)


async def test_what_no_live_worker_may_run_is_parked_with_the_reason_until_one_may(strict):
    job = await strict.add()
    id = await strict.request(job)
    await work(strict)
    await strict.memory.promote(strict.clock.now(), 0, 10)
    await strict.clock.advance(LOOK - 1)
    await strict.beat()
    await strict.reaper.step()
    one = await strict.one(id)
    assert (one.state, one.reason) == (State.PARKED, f"no live worker may run it: {WHY}")
    assert await strict.worker.refusals.step() == 1.0  # looked at a moment ago
    strict.executor.why = ""
    await strict.clock.advance(1)
    await strict.worker.refusals.step()
    await strict.beat()
    await strict.reaper.step()
    assert await strict.state(id) is State.WAITING
    await strict.memory.promote(strict.clock.now(), 0, 10)
    await work(strict)
    assert await strict.state(id) is State.SUCCEEDED


async def test_a_refusal_that_lasts_is_announced_by_its_newest_reason(strict):
    job = await strict.add()
    await strict.request(job)
    await work(strict)
    told = []
    strict.worker.refusals.on_change = lambda: told.append(strict.worker.refusals.announced())
    await strict.clock.advance(LOOK)
    await strict.worker.refusals.step()
    assert not told
    strict.executor.why = "port 81 is not allowed here"
    await strict.clock.advance(LOOK)
    await strict.worker.refusals.step()
    ((refusal,),) = told
    assert (refusal.job, refusal.version, refusal.why) == (job.id, 1, strict.executor.why)


async def test_what_is_noted_has_a_bound(strict):
    job = await strict.add()
    for number in range(MOST + 5):
        strict.worker.refusals.add(type(job)(**_fields(job) | {"id": f"job{number}"}), WHY)
    assert len(strict.worker.refusals.left_out) == MOST
    assert strict.worker.refusals.left_out[0] == "job5"


def _fields(job):
    return {name: getattr(job, name) for name in job.__dataclass_fields__}
