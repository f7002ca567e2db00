"""Check-ins of outside jobs, on a clock that tests move."""

import asyncio
import random

import pytest

from tests.services.conftest import TEN
from tickwell.domain.event import AttemptsFinished, Events
from tickwell.domain.execution import Kind, OutcomeKind, Reason, State
from tickwell.domain.external import is_outside
from tickwell.domain.policy import HOUR, MINUTE
from tickwell.domain.trigger import Cron, Every
from tickwell.engine.liveness.outside_jobs import OutsideJobs
from tickwell.ports.records import ExecutionFilter
from tickwell.services.monitors.check_in import CheckIn, Signal
from tickwell.services.monitors.check_ins import LOG, CheckIns
from tickwell.services.monitors.definition import monitor_job

GRACE = 5 * MINUTE
SUCCESS, START, FAIL = (
    CheckIn(signal=each) for each in (Signal.SUCCESS, Signal.START, Signal.FAIL)
)


class Outside:
    """An outside job, and by hand what the loops do."""

    def __init__(self, world):
        self.world = world
        self.heard: list[object] = []
        events = Events()
        events.subscribe(self.heard.append)
        self.check_ins = CheckIns(
            world.store, world.clock, random.Random(5), wake=world.wake, events=events
        )
        self.reaper = OutsideJobs(world.store, world.clock, events)

    async def add(self, trigger, grace=GRACE):
        job = monitor_job("backup", trigger, grace)
        self.job = (await self.world.jobs.add(job)).job
        return self

    async def ping(self, check_in=SUCCESS, at=None):
        if at is not None:
            await self.world.at(at)
        entry = await self.check_ins.find(self.job.project, self.job.id)
        assert entry is not None
        await self.check_ins.take(entry, check_in)

    async def all(self, *states):
        where = ExecutionFilter(job_id=self.job.id, states=frozenset(states) or None)
        found = (await self.world.store.list_executions(where)).items
        return sorted(found, key=lambda each: each.id)

    async def one(self):
        (found,) = await self.all()
        return found


@pytest.fixture
def outside(world):
    return Outside(world)


async def test_a_success_answers_the_fire_time_that_is_due(outside):
    await outside.add(Cron("0 * * * *"))
    await outside.ping(at=TEN + HOUR + MINUTE)
    run = await outside.one()
    assert (run.state, run.kind, run.fire_time) == (State.SUCCEEDED, Kind.FIRE, TEN + HOUR)
    assert (run.started_at, run.ended_at) == (TEN + HOUR + MINUTE, TEN + HOUR + MINUTE)
    (event,) = outside.heard
    assert isinstance(event, AttemptsFinished)
    assert [each.claim.id for each in event.reports] == [run.id]


async def test_a_start_and_an_end_measure_the_run(outside):
    await outside.add(Cron("0 * * * *"))
    await outside.ping(START, TEN + HOUR)
    assert (await outside.one()).state is State.RUNNING
    await outside.ping(START, TEN + HOUR + 1000)  # sent again, by a client that got no answer
    await outside.ping(CheckIn(signal=Signal.SUCCESS, log="3 files"), TEN + HOUR + 2 * MINUTE)
    run = await outside.one()
    assert (run.started_at, run.ended_at) == (TEN + HOUR, TEN + HOUR + 2 * MINUTE)
    assert (run.state, run.result) == (State.SUCCEEDED, "3 files")


@pytest.mark.parametrize(
    ("check_in", "error"),
    [
        (FAIL, "it reported a failure"),
        (CheckIn(signal=Signal.FAIL, exit_code=3), "exit code 3"),
    ],
)
async def test_a_failure_ends_the_run_as_dead(outside, check_in, error):
    await outside.add(Cron("0 * * * *"))
    await outside.ping(check_in, TEN + HOUR)
    run = await outside.one()
    assert (run.state, run.error) == (State.DEAD, error)


async def test_a_fire_time_without_a_check_in_is_missed_when_its_grace_ends(outside):
    await outside.add(Cron("0 * * * *"))
    await outside.world.at(TEN + HOUR)
    await outside.world.at(TEN + HOUR + GRACE - 1)
    assert (await outside.one()).state is State.QUEUED
    await outside.world.at(TEN + HOUR + GRACE)
    run = await outside.one()
    assert (run.state, run.reason) == (State.SKIPPED, Reason.EXPIRED)


async def test_a_check_in_after_the_grace_is_a_run_of_its_own(outside):
    await outside.add(Cron("0 * * * *"))
    await outside.world.at(TEN + HOUR)
    # the grace is over, and nothing has noted that yet
    outside.world.clock.instant = TEN + HOUR + GRACE
    await outside.ping()
    slot, extra = await outside.all()
    assert (slot.kind, slot.state) == (Kind.FIRE, State.QUEUED)
    assert (extra.kind, extra.state) == (Kind.REQUEST, State.SUCCEEDED)
    await outside.world.at(TEN + HOUR + GRACE)
    assert [each.state for each in await outside.all()] == [State.SKIPPED, State.SUCCEEDED]


async def test_a_check_in_shortly_before_its_fire_time_answers_it(outside):
    await outside.add(Cron("0 * * * *"))
    await outside.ping(at=TEN + HOUR - 30_000)
    await outside.world.at(TEN + HOUR)
    await outside.world.at(TEN + HOUR + GRACE)
    run = await outside.one()
    assert (run.state, run.fire_time) == (State.SUCCEEDED, TEN + HOUR)


async def test_one_that_is_much_too_early_answers_nothing(outside):
    await outside.add(Cron("0 * * * *"))
    await outside.ping(at=TEN + HOUR - 2 * MINUTE)
    await outside.world.at(TEN + HOUR)
    await outside.world.at(TEN + HOUR + GRACE)
    assert [(each.kind, each.state) for each in await outside.all()] == [
        (Kind.REQUEST, State.SUCCEEDED),
        (Kind.FIRE, State.SKIPPED),
    ]


async def test_a_second_check_in_is_a_run_of_its_own(outside):
    await outside.add(Cron("0 * * * *"))
    await outside.ping(at=TEN + HOUR)
    await outside.ping()
    assert sorted(each.kind for each in await outside.all(State.SUCCEEDED)) == ["fire", "request"]


async def test_of_several_open_fire_times_the_newest_is_answered(outside):
    await outside.add(Cron("0 * * * *"), grace=90 * MINUTE)
    await outside.world.at(TEN + HOUR)
    await outside.ping(at=TEN + 2 * HOUR)
    assert [(each.fire_time, each.state) for each in await outside.all()] == [
        (TEN + HOUR, State.QUEUED),
        (TEN + 2 * HOUR, State.SUCCEEDED),
    ]


async def test_runs_that_overlap_are_told_apart_by_their_names(outside):
    await outside.add(Cron("0 * * * *"), grace=90 * MINUTE)
    await outside.ping(CheckIn(signal=Signal.START, run="a"), TEN + HOUR)
    await outside.ping(CheckIn(signal=Signal.START, run="b"), TEN + 2 * HOUR)
    await outside.ping(CheckIn(signal=Signal.FAIL, run="b"))
    await outside.ping(CheckIn(signal=Signal.SUCCESS, run="a"))
    assert [(each.fire_time, each.state) for each in await outside.all()] == [
        (TEN + HOUR, State.SUCCEEDED),
        (TEN + 2 * HOUR, State.DEAD),
    ]


async def test_a_period_counts_from_the_last_check_in(outside):
    await outside.add(Every("1h", after="finish"))
    await outside.ping(at=TEN + 40 * MINUTE)
    for at in (TEN + HOUR, TEN + HOUR + GRACE, TEN + 100 * MINUTE):
        await outside.world.at(at)
        assert (await outside.all())[0].state is State.SUCCEEDED
    due = (await outside.all())[1]
    assert (due.fire_time, due.state) == (TEN + 100 * MINUTE, State.QUEUED)
    await outside.world.at(TEN + 100 * MINUTE + GRACE)
    assert (await outside.all())[1].state is State.SKIPPED


async def test_check_ins_at_the_same_time_answer_a_fire_time_once(outside):
    await outside.add(Cron("0 * * * *"))
    await outside.world.at(TEN + HOUR)
    await asyncio.gather(*(outside.ping(each) for each in (SUCCESS, FAIL, SUCCESS, FAIL)))
    runs = await outside.all()
    assert [each.kind for each in runs].count(Kind.FIRE) == 1
    assert {each.state for each in runs} <= {State.SUCCEEDED, State.DEAD}
    # each failure is on record: a success at the same time hides none
    assert sum(each.state is State.DEAD for each in runs) >= 1


async def test_starts_at_the_same_time_leave_one_run(outside):
    await outside.add(Cron("0 * * * *"))
    await asyncio.gather(*(outside.ping(START) for _ in range(4)))
    assert len(await outside.all(State.RUNNING)) == 1
    assert await outside.all(State.QUEUED, State.WAITING) == []


async def test_one_that_died_before_its_report_is_found_by_the_next(outside):
    await outside.add(Cron("0 * * * *"))
    finish, fails = outside.world.store.finish, [True]

    async def lost(reports, now):
        if fails.pop():
            raise ConnectionError
        return await finish(reports, now)

    outside.world.store.finish = lost
    with pytest.raises(ConnectionError):
        await outside.ping(at=TEN + HOUR)
    outside.world.store.finish = finish
    await outside.ping()
    assert (await outside.one()).state is State.SUCCEEDED


async def test_a_log_alone_changes_no_run(outside):
    await outside.add(Cron("0 * * * *"))
    await outside.ping(CheckIn(signal=Signal.LOG, log="half"), TEN + HOUR)
    assert (await outside.one()).state is State.QUEUED
    record = await outside.world.store.get_record(LOG, "default", outside.job.id, TEN + HOUR)
    assert record.document == {"at": TEN + HOUR, "log": "half"}


async def test_a_run_that_is_cancelled_ends_at_the_next_look(outside):
    await outside.add(Cron("0 * * * *"))
    await outside.ping(START, TEN + HOUR)
    run = await outside.one()
    await outside.world.store.request_cancel("default", [run.id], TEN + HOUR)
    await outside.reaper.keep(await outside.world.store.list_workers())
    assert (await outside.one()).state is State.CANCELLED


async def test_the_owner_of_outside_runs_is_kept_alive_and_shown_to_nobody(outside):
    await outside.add(Cron("0 * * * *"))
    await outside.ping(START, TEN + HOUR)
    (before,) = await outside.world.store.list_workers()
    assert is_outside(before.worker)
    assert await outside.reaper.keep([before]) == []
    (after,) = await outside.world.store.list_workers()
    assert after.beat == before.beat + 1


async def test_an_owner_that_was_declared_lost_is_replaced(outside):
    await outside.add(Cron("0 * * * *"))
    await outside.ping(at=TEN + HOUR)
    (owner,) = await outside.world.store.list_workers()
    assert await outside.world.store.declare_lost(owner.worker.id, owner.beat, TEN + HOUR)
    await outside.ping(at=TEN + 2 * HOUR)
    assert len(await outside.all(State.SUCCEEDED)) == 2


async def test_what_checks_in_at_its_start_alone_is_an_orphan_after_its_grace(outside):
    await outside.add(Cron("0 * * * *"))
    await outside.ping(START, TEN + HOUR)
    after = TEN + HOUR + GRACE + MINUTE + 1
    assert await outside.world.store.orphans(after - 1, 10) == []
    (claim,) = await outside.world.store.orphans(after, 10)
    from tickwell.engine.liveness.reaper import _lost

    outcome = _lost(claim, after, in_crowd=False)
    assert (outcome.kind, outcome.retry) == (OutcomeKind.TIMED_OUT, False)
