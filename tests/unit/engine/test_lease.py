from tests.unit.engine.rig import Rig
from tickwell.domain.execution import OutcomeKind, State


async def test_a_worker_declared_lost_begins_again_under_another_id(rig):
    job = await rig.add()
    id = await rig.request(job)
    rig.executor.hold("quick")
    await rig.beat()
    await rig.worker.step()
    await rig.settle()
    before = rig.worker.id
    beat = rig.memory.tables.workers[before].beat
    assert await rig.memory.declare_lost(before, beat, rig.clock.now())
    await rig.beat()
    await rig.settle()
    assert rig.worker.id != before
    assert rig.runner.in_hand == {}
    assert rig.reporter.backlog == 0  # it has nothing to say about what runs elsewhere now
    assert await rig.state(id) is State.RUNNING
    await rig.beat()
    await rig.request(job)
    await rig.worker.step()
    assert rig.worker.id in {one.execution.worker for one in rig.memory.claims.running()}


async def test_a_claim_that_lands_after_the_loss_is_not_run(rig):
    await rig.request(await rig.add())
    await rig.beat()
    real = rig.memory.claim

    async def claim_and_lose(request):
        claims = await real(request)
        rig.memory.tables.workers[rig.worker.id].lost = True
        await rig.beat()
        return claims

    rig.memory.claim = claim_and_lose
    await rig.worker.step()
    await rig.settle()
    assert rig.executor.calls == []


async def test_a_lease_that_may_have_ended_claims_nothing():
    rig = Rig(lease=30, beat=10)
    await rig.request(await rig.add())
    await rig.beat()
    await rig.clock.advance(27.1)
    assert await rig.worker.step() == rig.settings.poll
    assert await rig.running() == 0
    await rig.beat()
    await rig.worker.step()
    assert await rig.running() == 1


async def test_a_lease_that_may_have_ended_starts_nothing_that_is_held():
    rig = Rig(lease=30, beat=10, lead=30, horizon=60)
    id = await rig.request(await rig.add(), in_seconds=28)
    await rig.beat()
    await rig.worker.step()
    await rig.clock.advance(29)
    assert rig.executor.calls == []
    await rig.reporter.step()
    one = await rig.one(id)
    assert one.attempts[0].outcome is OutcomeKind.RELEASED
    assert one.charged == 0
