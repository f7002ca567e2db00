"""Hundreds of systems more: the same promises, other mixtures."""

import pytest

from tests.simulation.seeds import LONG_ALONE, LONG_SWARM, chosen, run
from tickwell.testing.simulation import Fault, scenario_of


@pytest.mark.parametrize("seed", chosen(LONG_SWARM))
def test_every_promise_is_kept(seed):
    assert run(seed).starts > 0


@pytest.mark.parametrize("fault", Fault)
@pytest.mark.parametrize("seed", chosen(LONG_ALONE))
def test_every_promise_is_kept_under(fault, seed):
    run(seed, scenario_of(seed, faults=frozenset({fault})))
