"""Hundreds of systems more: the same promises, other mixtures."""

import pytest

from tests.simulation.seeds import LONG_SWARM, chosen, run


@pytest.mark.parametrize("seed", chosen(LONG_SWARM))
def test_every_promise_is_kept(seed):
    assert run(seed).starts > 0
