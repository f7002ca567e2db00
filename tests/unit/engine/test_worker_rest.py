"""How long a worker rests: until a part of the lead before what comes next, and no longer."""

import pytest

from tests.unit.engine.rig import Rig
from tickwell.errors import StoreUnavailable


async def test_what_is_later_than_the_lead_is_left_to_whoever_comes_first():
    rig = Rig(lead=0.5)
    await rig.request(await rig.add(), in_seconds=2)
    await rig.beat()
    rest = await rig.worker.step()
    assert await rig.running() == 0
    assert rest == 2 - 0.375  # three quarters of the lead before its instant


async def test_what_comes_within_the_lead_while_it_claims_is_not_slept_over(monkeypatch):
    rig = Rig(lead=0.5)
    await rig.request(await rig.add(), in_seconds=0.51)
    await rig.beat()
    claim = rig.store.claim

    async def slowly(request):
        claims = await claim(request)
        await rig.clock.advance(0.1)
        return claims

    monkeypatch.setattr(rig.store, "claim", slowly)
    assert await rig.worker.step() <= 0.51 - 0.375
    assert await rig.running() == 0
    await rig.worker.step()
    assert await rig.running() == 1


async def test_what_comes_due_before_a_lost_reply_is_had_is_not_slept_over():
    rig = Rig(lead=0.5)
    job = await rig.add()
    await rig.request(job)
    await rig.beat()
    rig.store.after["claim"] = 1
    with pytest.raises(StoreUnavailable):
        await rig.worker.step()
    await rig.request(job)
    assert await rig.worker.step() == 0
    assert await rig.running() == 1
    assert await rig.worker.step() > 0
    assert await rig.running() == 2


async def test_a_worker_that_has_room_for_nothing_does_not_ask_what_comes_next(monkeypatch):
    rig = Rig(capacity=1, lead=0)
    job = await rig.add()
    rig.executor.hold("quick")
    await rig.request(job)
    await rig.beat()
    await rig.worker.step()
    await rig.request(job, in_seconds=2)
    monkeypatch.setattr(rig.store, "next_wakeup", None)
    assert await rig.worker.step() == rig.settings.poll


async def test_a_slot_that_comes_free_after_its_attempt_was_reported_wakes_the_worker():
    rig = Rig(capacity=1, lead=0, rest=10)
    await rig.request(await rig.add())
    await rig.beat()
    await rig.worker.step()
    await rig.settle()
    await rig.reporter.step()
    rig.reporter.wake_worker = rig.wake
    await rig.clock.advance(9.9)
    assert rig.woken == 0
    await rig.clock.advance(0.1)
    assert rig.woken == 1
    assert [lane.busy for lane in rig.worker.lanes] == [0]
