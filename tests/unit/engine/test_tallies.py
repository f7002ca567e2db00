"""What charts are made of: counted by the hour, written now and then."""

from dataclasses import replace

from tickwell.domain.event import AttemptsFinished
from tickwell.domain.execution import Claim, Kind, OutcomeKind
from tickwell.domain.outcome import Outcome, decide
from tickwell.domain.policy import HOUR
from tickwell.engine.tallies import FLUSH, Tallies
from tickwell.services.insights.rates import hourly, total
from tickwell.stores.memory import MemoryStore
from tickwell.testing import ManualClock
from tickwell.testing.contract.builders import T0, a_job


def a_report(outcome, *, at, attempt=1):
    claim = Claim(
        id="e",
        job=a_job("a"),
        kind=Kind.FIRE,
        attempt=attempt,
        charged=attempt,
        lost=0,
        returned=0,
        fire_time=at,
        run_at=at,
        payload=None,
        deadline=at + HOUR,
        worker="w",
        claim_id="c",
    )
    return decide(claim, Outcome(kind=outcome, started_at=at - 20), at)


async def read(store, clock):
    hour = clock.now() // HOUR * HOUR
    return await hourly(store, "default", hour, hour + HOUR, clock.now())


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
    found = total(await read(store, clock))
    assert (found.succeeded, found.retried, found.dead, found.millis) == (2, 1, 1, 80)


async def test_what_was_written_is_written_again_as_a_sum():
    store, clock = MemoryStore(), ManualClock(T0)
    tallies = Tallies(store, clock, "one")
    for _ in range(3):
        tallies.on_event(
            AttemptsFinished(reports=[a_report(OutcomeKind.SUCCEEDED, at=clock.now())])
        )
        await tallies.flush()
    assert total(await read(store, clock)).succeeded == 3


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
    assert total(await read(store, clock)).succeeded == 0
