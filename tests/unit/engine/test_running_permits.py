"""A project's limit of running attempts holds exactly, in all workers together."""

import asyncio
from random import Random

from tests.unit.engine.rig import LoopClock, Rig, virtually
from tickwell.domain.execution import Reason, State
from tickwell.domain.explanation import explanation_of, reason_of
from tickwell.domain.fairness import LIMITS_KIND
from tickwell.domain.permits import PERMITS_KIND
from tickwell.ports.records import ExecutionFilter, Record
from tickwell.services.documents import execution_document
from tickwell.stores.memory import MemoryStore
from tickwell.testing.executors import FakeExecutor, succeeds

LIMIT = 3


class Fleet:
    """Workers on one store, which count what all of them run together."""

    def __init__(self, workers, **settings):
        self.clock = LoopClock()
        self.memory = MemoryStore(self.clock.now)
        self.running = self.most = self.ended = 0
        self.seconds = 0.3
        self.rigs = [self.join(seed, **settings) for seed in range(workers)]

    def join(self, seed, **settings):
        rig = Rig(clock=self.clock, memory=self.memory, seed=seed, capacity=10, **settings)
        executor = rig.executor
        assert isinstance(executor, FakeExecutor)
        executor.script("quick", self.run)
        return rig

    async def run(self, _claim):
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.clock.wait(asyncio.Event(), self.seconds)
        finally:
            self.running -= 1
        self.ended += 1
        return succeeds()

    async def limit(self, running):
        record = Record(
            kind=LIMITS_KIND, project="default", key=LIMITS_KIND, document={"running": running}
        )
        await self.memory.put_record(record, self.clock.now())

    async def start(self):
        for rig in self.rigs:
            await rig.engine.start()

    async def add(self, count):
        job = await self.rigs[0].add("job")
        for _ in range(count):
            await self.rigs[0].request(job)

    async def pass_by(self, seconds):
        await self.clock.wait(asyncio.Event(), seconds)

    async def holders(self):
        record = await self.memory.get_record(PERMITS_KIND, "default", PERMITS_KIND, 0)
        return {} if record is None else record.document["holders"]


@virtually
async def test_all_workers_together_run_no_more_than_the_limit_and_use_it():
    fleet = Fleet(3)
    await fleet.limit(LIMIT)
    await fleet.start()
    await fleet.add(200)
    await fleet.pass_by(30)
    assert fleet.most == LIMIT
    assert fleet.ended == 200  # in 30 s, of which 20 s are enough at best


@virtually
async def test_fewer_permits_than_workers_are_enough_for_all():
    fleet = Fleet(4)
    await fleet.limit(1)
    await fleet.start()
    await fleet.add(40)
    await fleet.pass_by(40)
    assert (fleet.most, fleet.ended) == (1, 40)


@virtually
async def test_permits_go_back_when_nothing_is_left_to_run():
    fleet = Fleet(2)
    await fleet.limit(LIMIT)
    await fleet.start()
    await fleet.add(10)
    await fleet.pass_by(20)
    assert fleet.ended == 10
    assert await fleet.holders() == {}


@virtually
async def test_a_worker_that_is_stopped_leaves_its_permits_to_the_others():
    fleet = Fleet(2)
    await fleet.limit(LIMIT)
    fleet.seconds = 2
    await fleet.start()
    await fleet.add(30)
    await fleet.pass_by(3)
    await fleet.rigs[0].engine.stop()
    await fleet.pass_by(40)
    assert (fleet.most, fleet.ended) == (LIMIT, 30)


@virtually
async def test_the_permits_of_a_worker_that_was_declared_lost_are_free_again():
    fleet = Fleet(2)
    await fleet.limit(2)
    await fleet.start()
    dead = {"dead/task": [2, 2]}
    record = Record(
        kind=PERMITS_KIND, project="default", key=PERMITS_KIND, document={"holders": dead}
    )
    await fleet.memory.put_record(record, fleet.clock.now())
    await fleet.add(10)
    await fleet.pass_by(10)
    assert (fleet.most, fleet.ended) == (2, 10)
    assert "dead/task" not in await fleet.holders()


@virtually
async def test_a_worker_that_learns_it_was_lost_starts_again_without_permits():
    fleet = Fleet(1)
    await fleet.limit(LIMIT)
    await fleet.start()
    await fleet.add(30)
    await fleet.pass_by(1)
    worker = fleet.rigs[0].worker
    before = worker.id
    worker._reincarnate()
    (lane,) = (lane for lane in worker.lanes if "default" in lane.shares)
    assert (worker.id != before, lane.shares["default"].seats) == (True, 0)
    assert worker.shares.permits.projects() == set()


@virtually
async def test_replies_that_are_lost_and_a_store_that_fails_let_no_more_run():
    fleet, random = Fleet(3), Random(5)
    await fleet.limit(LIMIT)
    await fleet.start()
    await fleet.add(150)
    for _ in range(60):
        for rig in fleet.rigs:
            faults = random.choice([rig.store.before, rig.store.after])
            faults[random.choice(["put_record", "get_record"])] = 1
        await fleet.pass_by(0.5)
    await fleet.pass_by(30)
    assert (fleet.most, fleet.ended) == (LIMIT, 150)


@virtually
async def test_a_limit_that_is_lowered_and_raised_holds_within_ten_seconds():
    fleet = Fleet(2)
    await fleet.limit(6)
    await fleet.start()
    await fleet.add(2000)
    await fleet.pass_by(3)
    assert fleet.most == 6
    await fleet.limit(2)
    await fleet.pass_by(15)
    fleet.most = 0
    await fleet.pass_by(10)
    assert fleet.most == 2
    await fleet.limit(5)
    await fleet.pass_by(25)
    assert fleet.most == 5


@virtually
async def test_what_waits_for_the_limit_says_so():
    fleet = Fleet(1)
    await fleet.limit(1)
    fleet.seconds = 60
    await fleet.start()
    await fleet.add(2)
    await fleet.pass_by(5)
    page = await fleet.memory.list_executions(ExecutionFilter(), limit=10)
    (late,) = (one for one in page.items if one.state is State.WAITING)
    words = "postponed: its project is at its limit of 1 running attempts"
    assert explanation_of(late.state, late.reason, late.error) == words
    assert reason_of(late.state, late.reason, late.error) is Reason.QUOTA


@virtually
async def test_projects_without_a_limit_keep_no_record_of_permits():
    fleet = Fleet(2)
    await fleet.start()
    await fleet.add(20)
    await fleet.pass_by(5)
    assert (fleet.ended, await fleet.holders()) == (20, {})
    assert fleet.most > LIMIT


@virtually
async def test_a_program_reads_that_it_waits_for_the_limit():
    fleet = Fleet(1)
    await fleet.limit(1)
    fleet.seconds = 60
    await fleet.start()
    await fleet.add(2)
    await fleet.pass_by(5)
    page = await fleet.memory.list_executions(ExecutionFilter(), limit=10)
    reasons = {one.state: execution_document(one)["reason"] for one in page.items}
    assert reasons == {State.WAITING: "quota", State.RUNNING: None}
