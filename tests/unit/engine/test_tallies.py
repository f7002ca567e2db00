"""What charts are made of: counted by project, queue and job, written now and then."""

from dataclasses import replace

import pytest

from tickwell.domain.event import AttemptsFinished, Recovered
from tickwell.domain.execution import Claim, Kind, OutcomeKind
from tickwell.domain.fairness import PLATFORM_PROJECT
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.policy import HOUR, MINUTE, Retry
from tickwell.domain.tally import HOURS, MINUTES, MOST_NAMED, OTHER, Range, Tally, total
from tickwell.engine.charts.tallies import FLUSH, FLUSH_JOBS, Tallies
from tickwell.errors import StoreUnavailable
from tickwell.services.insights.metrics import by_interval, by_name, hourly, read
from tickwell.stores.memory import MemoryStore
from tickwell.testing import ManualClock
from tickwell.testing.contract.builders import T0, a_job


def a_report(outcome, *, at, attempt=1, job=None):
    claim = Claim(
        id="e",
        job=job or a_job("a"),
        kind=Kind.FIRE,
        attempt=attempt,
        charged=attempt,
        lost=0,
        returned=0,
        fire_time=at,
        run_at=at - 30,
        payload=None,
        deadline=at + HOUR,
        worker="w",
        claim_id="c",
    )
    return decide(claim, Outcome(kind=outcome, started_at=at - 20), at)


async def hour_of(store, clock, project="default"):
    hour = clock.now() // HOUR * HOUR
    return total((await hourly(store, project, hour, hour + HOUR, clock.now())).values())


async def named(store, clock, group, period=HOURS):
    start = clock.now() // period.length * period.length
    within = Range(period, start, start + period.length)
    return by_name(await read(store, "default", within, clock.now(), jobs=group == "jobs"), group)


class Flaky(MemoryStore):
    """A store that may be away, and that counts writes."""

    def __init__(self):
        super().__init__()
        self.away = False
        self.writes = 0

    async def put_record(self, *args):
        if self.away:
            raise StoreUnavailable("away")
        self.writes += 1
        return await super().put_record(*args)


class Rig:
    """Tallies over such a store."""

    def __init__(self):
        self.clock = ManualClock(T0)
        self.store = Flaky()
        self.tallies = Tallies(self.store, self.clock, "one")

    def end(self, *outcomes, **how):
        how.setdefault("at", self.clock.now())
        reports = [a_report(outcome, **how) for outcome in outcomes]
        self.tallies.on_event(AttemptsFinished(reports=reports))

    async def hour(self, project="default"):
        return await hour_of(self.store, self.clock, project)


@pytest.fixture
def rig():
    return Rig()


async def test_each_end_is_counted_once_in_its_hour_and_process():
    store, clock = MemoryStore(), ManualClock(T0)
    first, second = Tallies(store, clock, "one"), Tallies(store, clock, "two")
    good = a_report(OutcomeKind.SUCCEEDED, at=clock.now())
    retried = a_report(OutcomeKind.FAILED, at=clock.now())
    dead = a_report(OutcomeKind.FAILED, at=clock.now(), attempt=3)
    first.on_event(AttemptsFinished(reports=[good, good, retried]))
    second.on_event(AttemptsFinished(reports=[dead]))
    await first.flush()
    await second.flush()
    found = await hour_of(store, clock)
    assert (found.succeeded, found.retried, found.dead, found.millis) == (2, 1, 1, 80)


async def test_what_was_written_is_written_again_as_a_sum():
    store, clock = MemoryStore(), ManualClock(T0)
    tallies = Tallies(store, clock, "one")
    for _ in range(3):
        tallies.on_event(
            AttemptsFinished(reports=[a_report(OutcomeKind.SUCCEEDED, at=clock.now())])
        )
        await tallies.flush()
    assert (await hour_of(store, clock)).succeeded == 3


async def test_it_rests_until_there_is_something_and_then_gathers():
    store, clock = MemoryStore(), ManualClock(T0)
    tallies = Tallies(store, clock, "one")
    woken = []
    tallies.wake = lambda: woken.append(1)
    assert await tallies.step() > 1000
    report = a_report(OutcomeKind.SUCCEEDED, at=clock.now())
    tallies.on_event(AttemptsFinished(reports=[report]))
    tallies.on_event(AttemptsFinished(reports=[replace(report)]))
    assert woken == [1]
    assert 0 < await tallies.step() <= FLUSH
    assert (await hour_of(store, clock)).succeeded == 0


async def test_an_execution_counts_once_whatever_its_attempts(rig):
    rig.end(OutcomeKind.FAILED, attempt=1)
    rig.end(OutcomeKind.FAILED, attempt=2)
    rig.end(OutcomeKind.SUCCEEDED, attempt=3)
    rig.end(OutcomeKind.CANCELLED)
    rig.end(OutcomeKind.RELEASED, OutcomeKind.SNOOZED)
    await rig.tallies.flush()
    found = await rig.hour()
    assert (found.executions, found.succeeded, found.cancelled, found.dead) == (2, 1, 1, 0)
    assert found.retried == 2


async def test_what_the_reaper_takes_back_counts_too(rig):
    job = replace(a_job("a"), retry=Retry(max_losses=1))
    lost = a_report(OutcomeKind.LOST, at=rig.clock.now(), job=job)
    rig.tallies.on_event(Recovered(executions=["e"], reports=[lost]))
    await rig.tallies.flush()
    found = await rig.hour()
    assert (found.dead, found.took) == (1, {})


async def test_counts_are_kept_by_minute_and_hour_by_queue_and_job_and_for_all_projects(rig):
    plain, mail = a_job("a"), replace(a_job("m"), queue="mail")
    other = replace(a_job("o"), project="other")
    rig.end(OutcomeKind.SUCCEEDED, job=plain)
    rig.end(OutcomeKind.SUCCEEDED, OutcomeKind.SUCCEEDED, job=mail)
    rig.end(OutcomeKind.SUCCEEDED, job=other)
    await rig.tallies.flush()
    for period in (MINUTES, HOURS):
        queues = await named(rig.store, rig.clock, "queues", period)
        assert {name: tally.succeeded for name, tally in queues.items()} == {
            "mail": 2,
            "default": 1,
        }
        jobs = await named(rig.store, rig.clock, "jobs", period)
        assert {name: tally.succeeded for name, tally in jobs.items()} == {
            mail.id: 2,
            plain.id: 1,
        }
    assert (await rig.hour("other")).succeeded == 1
    assert (await rig.hour(PLATFORM_PROJECT)).succeeded == 4
    assert (await rig.hour()).late == {26: 3}  # 10 ms


async def test_the_busiest_jobs_are_named_and_the_others_counted_together(rig):
    for number in range(MOST_NAMED + 5):
        rig.end(*[OutcomeKind.SUCCEEDED] * (number + 1), job=a_job(f"j{number:02}"))
    await rig.tallies.flush()
    found = await named(rig.store, rig.clock, "jobs")
    assert len(found) == MOST_NAMED + 1
    assert list(found)[-1] == OTHER
    assert found[OTHER].succeeded == 1 + 2 + 3 + 4 + 5
    assert next(iter(found.values())).succeeded == MOST_NAMED + 5


async def test_a_flush_writes_as_much_for_many_jobs_as_for_one(rig):
    rig.end(OutcomeKind.SUCCEEDED)
    await rig.tallies.flush()
    few = rig.store.writes
    for number in range(300):
        rig.end(OutcomeKind.SUCCEEDED, job=a_job(f"j{number}"))
    await rig.tallies.flush()
    assert rig.store.writes - few == few


async def test_jobs_are_written_more_rarely_than_totals(rig):
    await rig.tallies.step()
    rig.end(OutcomeKind.SUCCEEDED)
    await rig.clock.advance(FLUSH)
    rest = await rig.tallies.step()
    assert (await rig.hour()).succeeded == 1
    assert await named(rig.store, rig.clock, "jobs") == {}
    assert 0 < rest <= FLUSH_JOBS
    await rig.clock.advance(rest)
    await rig.tallies.step()
    assert len(await named(rig.store, rig.clock, "jobs")) == 1


async def test_a_store_that_was_away_gets_the_sums_when_it_is_back(rig):
    rig.end(OutcomeKind.SUCCEEDED)
    rig.store.away = True
    with pytest.raises(StoreUnavailable):
        await rig.tallies.flush()
    rig.end(OutcomeKind.SUCCEEDED)
    rig.store.away = False
    await rig.tallies.flush()
    assert (await rig.hour()).succeeded == 2


async def test_a_late_report_never_replaces_what_was_counted_before(rig):
    began = rig.clock.now()
    rig.end(OutcomeKind.SUCCEEDED, OutcomeKind.SUCCEEDED)
    await rig.tallies.step()
    await rig.tallies.flush()
    await rig.clock.advance(30 * MINUTE / 1000)
    await rig.tallies.step()
    rig.end(OutcomeKind.SUCCEEDED, at=began)
    await rig.tallies.flush()
    within = Range(MINUTES, began // MINUTE * MINUTE, rig.clock.now() + 1)
    counted = await read(rig.store, "default", within, rig.clock.now())
    found = [tally.succeeded for tally in by_interval(counted, within.starts()).values()]
    assert (found[0], sum(found)) == (2, 3)


def test_the_document_of_an_older_process_is_read():
    found = Tally.from_document({"succeeded": 3, "dead": 1, "retried": 2, "millis": 9, "new": 1})
    assert found == Tally(succeeded=3, dead=1, retried=2, millis=9)
    assert Tally.from_document(found.to_document()) == found
