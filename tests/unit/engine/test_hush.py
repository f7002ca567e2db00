"""Nothing is begun just before the instant of a few beside a crowd; and how long that may be."""

import pytest

from tests.unit.engine.rig import Rig
from tickwell.engine.hush import Hush
from tickwell.engine.running.reporter import MANY
from tickwell.engine.running.start_timer import HUSHED
from tickwell.testing.clock import ManualClock


def test_a_tenth_of_the_time_is_kept_quiet_at_most():
    hush, kept = Hush(), 0
    for now in range(0, 10_000, 4):  # an instant after the other
        if hush.is_allowed(now):
            hush.was_kept(now, now + 4)
            kept += 4
    assert kept == 1000


def test_what_took_no_time_is_no_reason_to_wait():
    hush = Hush()
    hush.was_kept(5.0, 5.0)
    assert hush.is_allowed(5.0)


class NotingClock(ManualClock):
    """Notes what is held for, and how long before its instant."""

    def __init__(self):
        super().__init__()
        self.holds = []

    def hold_until(self, instant):
        self.holds.append(instant - self.now())


async def beside(crowd, *, project="quiet", count=1, ended=False):
    """So many of a project for one instant, beside a crowd; what was held for."""
    clock = NotingClock()
    rig = Rig(clock=clock, lead=2, slots=2 * MANY)
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
    holds = await beside(MANY, ended=ended)
    assert holds[0] == HUSHED


@pytest.mark.parametrize(
    ("crowd", "options"),
    [
        (MANY - 1, {}),
        (MANY, {"project": "loud"}),
        (MANY, {"project": "loud", "ended": True}),
        (1, {"count": MANY}),
    ],
    ids=["beside-few", "their-own-crowd", "their-own-ends", "many"],
)
async def test_nobody_else_is_held_for(crowd, options):
    assert await beside(crowd, **options) == []


@pytest.mark.parametrize("each", [2, MANY - 1, MANY], ids=["two", "few", "many"])
async def test_of_projects_that_have_as_many_none_is_put_behind_another(each):
    """Ranks are fair between projects, and heed priority: claims come in their order."""
    rig = Rig(lead=2, slots=1)
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
    rig = Rig(lead=2, slots=1)
    job = await rig.add("loud", project="loud")
    few = await rig.add("few", handler="other", project="quiet")
    for one in [*[job] * MANY, few, *[job] * MANY]:
        await rig.request(one, in_seconds=1)
    await rig.beat()
    await rig.worker.step()
    await rig.clock.advance(1)
    assert [call.handler for call in rig.executor.calls] == ["other", *["quick"] * 2 * MANY]
