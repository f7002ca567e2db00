"""The evaluator dies at every call to the store: nothing is told twice, and nothing is lost."""

import asyncio

import pytest

from tests.processes.faulty_store import Counted, FaultyStore
from tests.processes.sweep import RESETS, Cut
from tests.services.alerts.watch import HOURS, Watch
from tickwell.errors import StoreUnavailable
from tickwell.services.alerts.evaluator import LEASE
from tickwell.stores.memory import MemoryStore

BOTH = ("billing", "report")
TOLD = [("firing", *BOTH), ("resolved", *BOTH)]


class Course:
    """Two jobs are missing, and then succeed; one evaluator dies on the way, another follows."""

    def __init__(self):
        self.watch = Watch(MemoryStore())

    async def begin(self):
        watch = self.watch
        await watch.beat()
        self.told = await watch.channel()
        self.jobs = [await watch.add(name) for name in BOTH]
        self.rule = await watch.rule("missing", after=HOURS)
        watch.clock.instant += HOURS - 20_000

    async def fire(self):
        await self._looks()

    async def resolve(self):
        for job in self.jobs:
            await self.watch.end(job, heard=False)
        await self._looks()

    async def hand_over(self, *faults):
        """The evaluator stops in order, and one that meets faults follows."""
        await self.watch.evaluator.close()
        self.watch.evaluator = self.watch.another(FaultyStore(self.watch.store, *faults))

    async def _looks(self):
        for _ in range(3):
            try:
                await self.watch.look()
            except StoreUnavailable:  # it died; its lease is still there
                self.watch.evaluator = self.watch.another()
                self.watch.clock.instant += LEASE

    async def outcome(self):
        return await self.watch.told(self.told, self.rule), await self.watch.history(self.rule)


async def course(during, *faults):
    """What was told where the faults are met while it fires, or while it is resolved."""
    made = Course()
    await made.begin()
    if during == "fire":
        await made.hand_over(*faults)
    await made.fire()
    if during == "resolve":
        await made.hand_over(*faults)
    await made.resolve()
    return await made.outcome()


@pytest.mark.parametrize("during", ["fire", "resolve"])
@pytest.mark.parametrize("where", RESETS, ids=["before", "after"])
async def test_a_crash_at_any_call_neither_loses_nor_repeats_a_notice(where, during):
    counted = Counted()
    assert await course(during, counted) == (TOLD, [("firing", 2), ("resolved", 2)])
    for nth in range(1, sum(counted.calls.values()) + 1):
        cut = Cut(where, nth)
        told, history = await course(during, cut)
        assert told == TOLD, f"{where} call {nth}, {cut.method}"
        assert history == [("firing", 2), ("resolved", 2)], f"{where} call {nth}, {cut.method}"


async def test_two_evaluators_at_once_tell_once(watch):
    """As when a process that held the lease wakes up after another took it."""
    told = await watch.channel()
    for name in BOTH:
        await watch.add(name)
    rule = await watch.rule("missing", after=HOURS)
    others = [watch.another() for _ in range(3)]
    watch.clock.instant += HOURS
    for evaluator in others:
        evaluator._holds_lease = _always
    await asyncio.gather(*(evaluator.step() for evaluator in others))
    assert await watch.told(told, rule) == [("firing", *BOTH)]


async def test_one_process_evaluates_and_another_follows_when_it_is_gone(watch):
    told, _ = await watch.channel(), await watch.add("report")
    rule = await watch.rule("missing", after=HOURS)
    first, second = watch.evaluator, watch.another()
    await watch.look(evaluator=first)
    watch.clock.instant += HOURS
    await first.step()  # renews its lease
    assert await watch.told(told, rule) == [("firing", "report")]
    asked = Counted()
    idle = watch.another(FaultyStore(watch.store, asked))
    await idle.step()
    assert "list_executions" not in asked.calls
    await first.close()
    await watch.look(evaluator=second)
    await watch.look(evaluator=idle)
    assert "list_executions" not in asked.calls
    assert await watch.told(told, rule) == [("firing", "report")]


async def test_outcomes_of_other_processes_reach_the_evaluator(watch):
    told, job = await watch.channel(), await watch.add("report")
    rule = await watch.rule("failing", times=1)
    evaluator, other = watch.evaluator, watch.another()
    await watch.look(evaluator=evaluator)
    await watch.look(evaluator=other)
    watch.evaluator = other
    await watch.fail(job)
    await other.close()  # it stops before its next step
    await watch.look(evaluator=evaluator)
    assert await watch.told(told, rule) == [("firing", "report")]


async def test_outcomes_that_cannot_be_written_are_written_later(watch):
    told, job = await watch.channel(), await watch.add("report")
    rule = await watch.rule("failing", times=1)
    await watch.look()
    await watch.evaluator.close()
    cut = Away()
    watch.evaluator = watch.another(FaultyStore(watch.store, cut))
    await watch.look()
    await watch.fail(job)
    cut.is_away = True
    with pytest.raises(StoreUnavailable):
        await watch.look()
    cut.is_away = False
    await watch.look()
    assert await watch.told(told, rule) == [("firing", "report")]


async def test_a_project_without_alerts_costs_one_read(watch):
    await watch.add("report")
    counted = Counted()
    await watch.another(FaultyStore(watch.store, counted)).step()
    assert counted.calls == {"list_records": 1}


class Away(Cut):
    """A store that cannot be written."""

    def __init__(self):
        super().__init__("", 0)
        self.is_away = False

    async def before(self, method):
        if self.is_away and method == "put_record":
            raise StoreUnavailable("the store is away")


async def _always(_now):
    return True
