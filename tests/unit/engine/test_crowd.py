"""Many at one instant: on the dot, starts before ends, and no end is lost or changed by waiting."""

from dataclasses import replace

import pytest

from tests.unit.engine.rig import Rig
from tickwell.domain.execution import OutcomeKind, State
from tickwell.engine.running import start_guard
from tickwell.engine.running.attempt import Attempt
from tickwell.testing.executors import succeeds

CROWD = start_guard.CROWD + 10


@pytest.fixture
async def crowd():
    """Held for an instant a second ahead; two slots for all of them."""
    rig = Rig(lead=2, capacity=2)
    job = await rig.add()
    for _ in range(CROWD):
        await rig.request(job, in_seconds=1)
    await rig.beat()
    await rig.worker.step()
    (lane,) = rig.worker.lanes
    assert lane.in_hand == CROWD
    return rig


def noting(rig, look):
    """An attempt that notes what it sees when it starts."""
    seen = []

    async def act(claim):
        seen.append(look(rig, claim))
        return succeeds()

    rig.executor.script("quick", *[act] * CROWD)
    return seen


async def test_nothing_starts_early_however_near_its_instant_is(crowd):
    await crowd.clock.advance(0.999)
    assert crowd.executor.calls == []
    await crowd.clock.advance(0.001)
    assert len(crowd.executor.calls) == CROWD


async def test_all_start_before_an_end_is_told(crowd):
    seen = noting(crowd, lambda rig, claim: rig.reporter.backlog)
    await crowd.clock.advance(1)
    assert seen == [0] * CROWD
    assert (crowd.reporter.backlog, len(crowd.runner.in_hand)) == (CROWD, 0)
    await crowd.clock.advance(1)
    await crowd.reporter.step()
    assert set(await crowd.states()) == {State.SUCCEEDED}


async def test_who_looks_at_what_is_under_way_hears_of_all_that_ended(crowd):
    seen = noting(crowd, lambda rig, claim: len(rig.runner.started()))
    await crowd.clock.advance(1)
    assert seen == [1] * CROWD
    assert crowd.reporter.backlog == CROWD


async def test_an_end_stands_whatever_is_asked_while_it_waits(crowd):
    ended: list[Attempt] = []

    def disturb(rig, claim):
        for attempt in ended:
            rig.runner.finish_early(attempt, attempt.interrupted())
        ended[:] = [rig.runner.in_hand[claim.id]]

    noting(crowd, disturb)
    await crowd.clock.advance(2)
    await crowd.reporter.step()
    told = [report.outcome for reports, _ in crowd.store.named("finish") for report in reports]
    assert told == [OutcomeKind.SUCCEEDED] * CROWD


async def test_who_was_asked_to_stop_before_it_began_takes_no_slot_while_its_end_waits(crowd):
    (lane,) = crowd.worker.lanes
    late: list[Attempt] = []

    def disturb(rig, claim):
        if not late:
            rig.runner.take([replace(claim, id="late", run_at=claim.run_at + 1)], lane)
            late.append(rig.runner.in_hand["late"])
            rig.runner.cancel("late", claim.attempt)
        elif late[0].entered and not late[0].told:
            waited.append(late[0])
            lane.ready.append(late[0])  # its instant has come

    waited: list[Attempt] = []
    noting(crowd, disturb)
    await crowd.clock.advance(2)
    assert waited
    assert (lane.busy, lane.in_hand, late[0].seated) == (0, 0, False)
