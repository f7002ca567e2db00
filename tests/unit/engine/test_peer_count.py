from tests.unit.engine.rig import Rig
from tickwell.domain.execution import State
from tickwell.domain.worker import Worker


def worker(id, *queues):
    return Worker(id=id, host="", pid=1, queues=queues, abilities=(), capacity=1, started_at=0)


async def test_workers_of_the_same_queues_are_counted_at_every_sweep():
    rig = Rig()
    (lane,) = rig.worker.lanes
    rig.reaper.on_workers = rig.worker.company.learn
    await rig.beat()
    await rig.reaper.step()
    assert lane.company == 1
    for other in (worker("a", "default"), worker("b", "mail", "default"), worker("c", "mail")):
        await rig.memory.beat(other, rig.clock.now())
    await rig.reaper.step()
    assert lane.company == 3
    await rig.memory.declare_lost("a", 1, rig.clock.now())
    await rig.reaper.step()
    assert lane.company == 2


async def test_who_began_since_the_last_sweep_gets_its_part_of_a_burst(rigs):
    rig = rigs(capacity=1, lead=0.5)
    (lane,) = rig.worker.lanes
    job = await rig.add()
    rig.executor.hold("quick")
    await rig.beat()
    await rig.worker.step()
    await rig.memory.beat(worker("other", "default"), rig.clock.now())
    for _ in range(3):
        await rig.request(job)
    await rig.worker.step()
    assert lane.company == 1  # nothing was claimed ahead yet
    await rig.request(job)
    await rig.worker.step()
    assert lane.company == 2


async def test_what_turns_out_too_slow_to_be_started_in_time_goes_back_to_others(rigs):
    rig = rigs(capacity=1, lead=0.5)
    (lane,) = rig.worker.lanes
    job = await rig.add()
    rig.executor.hold("quick")
    for _ in range(10):
        await rig.request(job)
    await rig.beat()
    await rig.worker.step()
    await rig.settle()
    assert (lane.in_hand, len(lane.ready)) == (10, 9)
    lane.mean, lane.company = 250.0, 2
    rig.runner.give_back_stuck(rig.worker.lanes)
    assert (lane.in_hand, len(lane.ready)) == (3, 2)
    await rig.reporter.step()
    assert sorted(await rig.states()) == sorted([State.RUNNING] * 3 + [State.QUEUED] * 7)
