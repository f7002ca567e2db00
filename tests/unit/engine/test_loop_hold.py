"""The event loop is held just before a small project starts beside a crowd, and for how long."""

import pytest

from tests.unit.engine.rig import Rig
from tickwell.engine.running.start_guard import CROWD, HOLD_WITHIN, StartGuard
from tickwell.testing.clock import ManualClock


class NotingClock(ManualClock):
    """Notes what is held for, and how long before its instant."""

    def __init__(self):
        super().__init__()
        self.holds = []

    def hold_until(self, instant):
        self.holds.append(instant - self.now())


class PassingClock(ManualClock):
    """Time passes while the event loop is held, and not otherwise."""

    def __init__(self):
        super().__init__()
        self.seconds = self.held = 0

    def monotonic(self):
        return self.seconds

    def hold_until(self, instant):
        self.seconds += instant
        self.held += instant


def test_the_event_loop_is_held_a_tenth_of_the_time_at_most():
    clock = PassingClock()
    guard = StartGuard(clock, batch=500)
    while clock.seconds < 10_000:  # one instant after the other
        guard.hold_loop(4)
        clock.seconds += 4
    assert clock.held == 1000


def test_a_hold_that_took_no_time_is_no_reason_to_wait():
    clock = NotingClock()
    guard = StartGuard(clock, batch=500)
    for _ in range(2):
        guard.hold_loop(clock.now())
    assert clock.holds == [0, 0]


async def beside(crowd, *, project="quiet", count=1, ended=False):
    """So many of a project for one instant, beside a crowd; what was held for."""
    clock = NotingClock()
    rig = Rig(clock=clock, lead=2, capacity=2 * CROWD)
    if not ended:
        rig.executor.hold("quick")
    job = await rig.add("loud", project="loud")
    for _ in range(crowd):
        await rig.request(job)
    few = await rig.add("few", handler="other", project=project)
    for _ in range(count):
        await rig.request(few, in_seconds=1)
    await rig.beat()
    await rig.worker.step()
    assert len(rig.runner.in_hand) + rig.reporter.backlog == crowd + count
    await clock.advance(1)
    assert len(rig.executor.calls) == crowd + count
    return clock.holds


@pytest.mark.parametrize("ended", [False, True], ids=["under-way", "not-written"])
async def test_a_few_beside_a_crowd_of_another_project_are_held_for(ended):
    holds = await beside(CROWD, ended=ended)
    assert holds[0] == HOLD_WITHIN


@pytest.mark.parametrize(
    ("crowd", "options"),
    [
        (CROWD - 1, {}),
        (CROWD, {"project": "loud"}),
        (CROWD, {"project": "loud", "ended": True}),
        (1, {"count": CROWD}),
    ],
    ids=["beside-few", "their-own-crowd", "their-own-ends", "many"],
)
async def test_nobody_else_is_held_for(crowd, options):
    assert await beside(crowd, **options) == []


@pytest.mark.parametrize("each", [2, CROWD - 1, CROWD], ids=["two", "few", "many"])
async def test_of_projects_that_have_as_many_none_is_put_behind_another(each):
    """Ranks are fair between projects, and heed priority: claims come in their order."""
    rig = Rig(lead=2, capacity=1)
    jobs = [await rig.add(name, handler=name, project=name) for name in ("quick", "other")]
    for job in jobs * each:
        await rig.request(job, in_seconds=1)
    await rig.beat()
    await rig.worker.step()
    claimed = [one.claim.id for one in rig.runner.in_hand.values()]
    await rig.clock.advance(1)
    assert [call.id for call in rig.executor.calls] == claimed
    assert len(claimed) == 2 * each


async def test_who_has_few_at_the_instant_of_a_crowd_is_first():
    rig = Rig(lead=2, capacity=1)
    job = await rig.add("loud", project="loud")
    few = await rig.add("few", handler="other", project="quiet")
    for one in [*[job] * CROWD, few, *[job] * CROWD]:
        await rig.request(one, in_seconds=1)
    await rig.beat()
    await rig.worker.step()
    await rig.clock.advance(1)
    assert [call.handler for call in rig.executor.calls] == ["other", *["quick"] * 2 * CROWD]
