import pytest

from tests.unit.engine.rig import Rig
from tickwell.domain.execution import OutcomeKind
from tickwell.engine.running.reporter import UNTIL_WOKEN
from tickwell.engine.running.start_recorder import APART, SOON


@pytest.fixture
async def running():
    """A worker with one attempt under way, and a clock that stands still."""
    rig = Rig(lease=300, lead=0)
    await rig.add()
    rig.id = await start(rig)
    return rig


async def start(rig):
    rig.executor.hold("quick")
    [entry] = await rig.memory.get_jobs("default", ["job"])
    id = await rig.request(entry.job)
    await rig.beat()
    await rig.worker.step()
    await rig.settle()
    return id


async def look(rig, seconds):
    """Let the recorder rest, and step again."""
    await rig.clock.advance(seconds)
    return await rig.runner.starts.step()


async def test_the_start_is_written_while_the_attempt_runs(running):
    began = running.clock.now()
    assert (await running.one(running.id)).started_at is None
    assert await running.runner.starts.step() == pytest.approx(SOON)
    assert await look(running, SOON) == UNTIL_WOKEN
    assert (await running.one(running.id)).started_at == began


async def test_an_attempt_that_ends_soon_costs_no_write(running):
    await running.runner.starts.step()
    running.executor.release("quick")
    await running.settle()
    await look(running, SOON)
    assert running.store.named("record_starts") == []


async def test_starts_that_follow_each_other_share_a_write(running):
    await running.runner.starts.step()
    await look(running, SOON)
    ids = [await start(running) for _ in range(3)]
    await running.runner.starts.step()
    await look(running, SOON)
    assert len(running.store.named("record_starts")) == 1
    await look(running, APART)
    _, [starts] = running.store.named("record_starts")
    assert {one.id for one in starts} == set(ids)


async def test_a_store_that_is_away_is_asked_again(running):
    await running.runner.starts.step()
    running.store.before["record_starts"] = 1
    assert await look(running, SOON) == APART
    assert (await running.one(running.id)).started_at is None
    await look(running, APART)
    assert (await running.one(running.id)).started_at is not None


async def test_what_was_not_written_is_asked_again(running, monkeypatch):
    async def nothing(_starts):
        return []

    await running.runner.starts.step()
    with monkeypatch.context() as patch:
        patch.setattr(running.memory, "record_starts", nothing)
        assert await look(running, SOON) == APART
    await look(running, APART)
    assert (await running.one(running.id)).started_at is not None


async def test_a_lost_attempt_keeps_its_start(running):
    began = running.clock.now()
    await running.runner.starts.step()
    await look(running, SOON)
    liveness = running.memory.tables.workers[running.worker.id]
    await running.memory.declare_lost(running.worker.id, liveness.beat, running.clock.now())
    await running.reaper.step()
    one = await running.one(running.id)
    assert [(each.outcome, each.started_at) for each in one.attempts] == [(OutcomeKind.LOST, began)]
