"""Cyclic garbage is looked for after an instant, if the next one is not near."""

import gc
import weakref

import pytest

from tests.unit.engine.rig import Rig
from tickwell.engine.running import start_guard


class Knot:
    """Part of a cycle."""

    def __init__(self):
        self.itself = self


@pytest.fixture
def ours():
    """Thresholds as in a process that is all ours, and nothing young yet."""
    before = gc.get_threshold()
    gc.collect()
    gc.set_threshold(start_guard.COLLECT_ANYWHERE, *[start_guard.OLDER_GENERATIONS] * 2)
    yield
    gc.set_threshold(*before)


def litter():
    """So much that Python would look before long; whether some of it is still there."""
    knots = [Knot() for _ in range(start_guard.COLLECT_BETWEEN + 100)]
    return weakref.ref(knots[0])


async def start_one(rig, in_seconds=1.0):
    await rig.request(await rig.add(f"at-{in_seconds}"), in_seconds)
    await rig.beat()
    await rig.worker.step()


@pytest.mark.usefixtures("ours")
async def test_it_is_gone_after_an_instant():
    rig = Rig(lead=2)
    await start_one(rig)
    left = litter()
    assert left() is not None
    await rig.clock.advance(1)
    assert rig.executor.calls
    assert left() is None
    assert gc.get_threshold()[0] == start_guard.COLLECT_ANYWHERE


@pytest.mark.usefixtures("ours")
async def test_it_waits_for_an_instant_that_is_near():
    rig = Rig(lead=2)
    await start_one(rig, 1.0)
    await start_one(rig, 1.0 + start_guard.COLLECT_NOT_WITHIN / 1000)
    left = litter()
    await rig.clock.advance(1)
    assert left() is not None
    await rig.clock.advance(start_guard.COLLECT_NOT_WITHIN / 1000)
    assert left() is None


async def test_a_program_that_is_not_ours_decides_itself():
    before = gc.get_threshold()
    gc.set_threshold(1_000_000)
    try:
        rig = Rig(lead=2)
        await start_one(rig)
        left = litter()
        await rig.clock.advance(1)
        assert left() is not None
    finally:
        gc.set_threshold(*before)
