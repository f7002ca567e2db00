"""Several processes' worth of everything at once: gates, counts and ends agree afterwards."""

import pytest

from tests.stores.crowd import everything_at_once, let_all_end, made, through_a_gate
from tests.stores.redis.conftest import PREFIX
from tests.stores.redis.invariants import contradictions
from tickwell.testing.contract.scene import Scene


@pytest.fixture
def scenes(store, other):
    return Scene(store), Scene(other)


@pytest.mark.parametrize("seed", range(3))
async def test_everything_at_once_leaves_everything_exact(scenes, keys, seed):
    await everything_at_once(scenes, made(), seed)
    assert contradictions(keys, PREFIX) == []


async def test_a_gate_is_never_over_full(scenes):
    """At most three at once, whoever claims and ends, and all of them run."""
    most, done = await through_a_gate(scenes)
    assert done == 60
    assert most <= 3


async def test_all_of_it_ends_when_people_let_it(scenes, keys):
    jobs = made()
    await everything_at_once(scenes, jobs, 7)
    await let_all_end(scenes[0], jobs)
    assert contradictions(keys, PREFIX) == []
    assert keys.hlen(f"{{{PREFIX}}}:holder") == 0
    assert list(keys.scan_iter(f"{{{PREFIX}}}:holds:*")) == []
