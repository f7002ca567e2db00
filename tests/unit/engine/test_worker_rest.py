"""How long a worker rests: until a part of the lead before what comes next, and no longer."""

from tests.unit.engine.rig import Rig


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
