"""Claims that are asked for again, on a store with more than one connection."""


async def test_an_attempt_that_ends_while_its_claim_is_read_is_not_run_again(rig, monkeypatch):
    id = await rig.request(await rig.add())
    await rig.beat()
    await rig.worker.step()
    await rig.settle()  # it has run, and its outcome is with the reporter
    sound = rig.memory.claim

    async def claim(request):
        read = await sound(request)
        await rig.reporter.step()  # written on another connection, after the look
        return read

    monkeypatch.setattr(rig.memory, "claim", claim)
    rig.worker._lost_claims.add(rig.memory.tables.rows[id].claim_id)
    await rig.worker.step()
    await rig.settle()
    assert len(rig.executor.calls) == 1
