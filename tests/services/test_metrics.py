"""Metrics of the last minutes and over time, and whose they are."""

import random

import pytest

from tests.services.conftest import WORKER
from tickwell.domain.event import AttemptsFinished
from tickwell.domain.execution import OutcomeKind
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.policy import DAY, HOUR, MINUTE
from tickwell.domain.tally import HOURS, Tally
from tickwell.domain.trigger import Every, OnDemand
from tickwell.engine.charts.depth_sampler import DepthSampler
from tickwell.engine.charts.tallies import Tallies
from tickwell.errors import Forbidden, InvalidInput, NotFound
from tickwell.ports.records import ClaimRequest, Record
from tickwell.services.access.actor import Actor, Permission
from tickwell.services.insights.metrics import SPANS, Scope, read_current, read_series
from tickwell.services.insights.overview import look
from tickwell.services.operations import OperationContext, Operations
from tickwell.stores.memory import MemoryStore
from tickwell.testing import ManualClock

MINE = Scope(project="default")


async def counted(world, claims, kind=OutcomeKind.SUCCEEDED, took=100):
    """Count the ends of these claims as a worker of this process does."""
    now = world.clock.now()
    tallies = Tallies(world.store, ManualClock(now), f"w{now}")
    ended = [decide(each, Outcome(kind=kind, started_at=now - took), now) for each in claims]
    tallies.on_event(AttemptsFinished(reports=ended))
    await tallies.flush()


async def run_some(world, count, kind=OutcomeKind.SUCCEEDED, **how):
    for _ in range(count):
        await world.executions.trigger("default", "job")
    claims = await world.run(kind)
    await counted(world, claims, kind, **how)


async def test_rates_errors_and_percentiles(world):
    await world.jobs.add(world.job(OnDemand(), "job"))
    await run_some(world, 30, took=200)
    world.clock.instant += 4 * MINUTE
    await run_some(world, 60, took=100)
    found = await read_current(world.store, MINE, world.clock.now())
    assert found.rate == {1: 1.0, 5: 90 / 300, 15: 90 / 900}
    assert found.errors == {1: 0, 5: 0, 15: 0}
    assert found.duration.p50 == pytest.approx(100, rel=0.091)
    assert found.duration.p99 == pytest.approx(200, rel=0.091)
    assert list(found.queues) == ["default"]
    world.clock.instant += MINUTE + 30_000
    later = await read_current(world.store, MINE, world.clock.now())
    assert later.rate[1] == 60 * 0.5 / 60  # half of that minute is left in the last 60 s
    assert later.rate[15] == 90 / 900


async def test_executions_cancelled_while_pending_are_counted_once(world):
    await world.jobs.add(world.job(OnDemand(), "job"))
    pending = await world.executions.trigger("default", "job")
    await world.executions.cancel("default", [pending.id])
    found = await read_series(world.store, MINE, "1h", world.clock.now())
    assert (found.total.executions, found.total.cancelled) == (1, 1)
    assert [tally.cancelled for tally in found.jobs.values()] == [1]
    assert (await look(world.store, "default", world.clock.now())).last_day.cancelled == 1


async def test_asking_a_worker_to_stop_counts_nothing_yet(world):
    await world.jobs.add(world.job(OnDemand(), "job"))
    running = await world.executions.trigger("default", "job")
    now = world.clock.now()
    await world.store.beat(WORKER, now)
    request = ClaimRequest(
        worker="w",
        claim_id="c",
        now=now,
        lead=0,
        limit=1,
        queues=("default",),
        abilities=frozenset({"call:*/x"}),
    )
    claims = await world.store.claim(request)
    await world.executions.cancel("default", [running.id])
    assert (await read_series(world.store, MINE, "1h", now)).total.executions == 0
    await counted(world, claims, OutcomeKind.CANCELLED)
    assert (await read_series(world.store, MINE, "1h", now)).total.cancelled == 1


async def test_requested_runs_that_end_with_their_job_are_counted(world):
    await world.jobs.add(world.job(OnDemand(), "job"))
    for _ in range(3):
        await world.executions.trigger("default", "job")
    await world.jobs.delete("default", ["job"])
    found = await read_series(world.store, MINE, "1h", world.clock.now())
    assert found.total.cancelled == 3


async def test_deleting_a_job_without_runs_writes_no_tally(world):
    await world.jobs.add(world.job(Every("1h"), "job"))
    await world.jobs.delete("default", ["job"])
    assert await world.store.list_records(HOURS.kind, "default", "", world.clock.now()) == []


async def test_a_series_of_a_job_has_its_depth_sampled_and_now(world):
    jobs = [(await world.jobs.add(world.job(OnDemand(), name))).job.id for name in ("a", "b")]
    for name in ("a", "a", "b"):
        await world.executions.trigger("default", name)
    now = world.clock.now()
    await world.store.promote(now, 0, 10)
    await DepthSampler(world.store, world.clock, "one").step()
    for job, depth in zip(jobs, (2, 1), strict=True):
        for span in SPANS:
            found = await read_series(world.store, Scope(project="default", job=job), span, now)
            assert found.due == [*found.depths.values()][-1] == depth
    whole = await read_series(world.store, MINE, "1h", now)
    assert (whole.due, [*whole.depths.values()][-1]) == (None, 3)


@pytest.mark.parametrize("span", SPANS)
async def test_a_series_has_every_interval_and_ends_with_the_current_one(world, span):
    await world.jobs.add(world.job(OnDemand(), "job"))
    await run_some(world, 2, OutcomeKind.CANCELLED)
    found = await read_series(world.store, MINE, span, world.clock.now())
    assert len(found.tallies) == {"1h": 60, "24h": 24, "7d": 168}[span]
    assert list(found.tallies.values())[-1].cancelled == 2
    assert set(found.depths.values()) == {None}
    assert found.within.until - found.within.since == {"1h": HOUR, "24h": DAY, "7d": 7 * DAY}[span]


async def test_a_series_of_a_queue_or_of_a_job(world):
    entry = await world.jobs.add(world.job(OnDemand(), "job"))
    await run_some(world, 2)
    now = world.clock.now()
    for scope, count in (
        (Scope(project="default", queue="default"), 2),
        (Scope(project="default", queue="mail"), 0),
        (Scope(project="default", job=entry.job.id), 2),
        (Scope(project="default", job="unknown"), 0),
        (Scope(project="other"), 0),
        (Scope(project=None), 2),
    ):
        found = await read_series(world.store, scope, "24h", now)
        assert (scope, found.total.executions) == (scope, count)


async def test_a_record_of_an_earlier_version_is_shown(world):
    now = world.clock.now()
    document = {"succeeded": 7, "dead": 1, "retried": 3, "millis": 10}
    key = HOURS.key(now, "old")
    record = Record(kind=HOURS.kind, project="default", key=key, document=document)
    await world.store.put_record(record, now)
    found = await read_series(world.store, MINE, "24h", now)
    assert found.total == Tally(succeeded=7, dead=1, retried=3, millis=10)


class TestActors:
    """What an actor may ask for."""

    def operations(self):
        wake = [].clear
        operation_context = OperationContext(
            store=MemoryStore(), clock=ManualClock(0), random=random.Random(0), wake=wake
        )
        return Operations.over(operation_context).insights

    def actor(self, *permissions):
        return Actor(name="a", project="default", permissions=frozenset(permissions))

    async def test_all_projects_are_for_the_platform_only(self):
        with pytest.raises(Forbidden):
            await self.operations().metrics(self.actor(Permission.READ), all_projects=True)
        with pytest.raises(Forbidden):
            await self.operations().series(self.actor(Permission.READ), "1h", all_projects=True)
        admin = self.actor(Permission.READ, Permission.PLATFORM)
        assert (await self.operations().metrics(admin, all_projects=True)).rate[1] == 0

    async def test_a_job_belongs_to_a_project(self):
        admin = self.actor(Permission.READ, Permission.PLATFORM)
        with pytest.raises(InvalidInput):
            await self.operations().metrics(admin, job="a", all_projects=True)
        with pytest.raises(NotFound):
            await self.operations().metrics(admin, job="a")
