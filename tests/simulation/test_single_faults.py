"""One fault at a time, so that none hides another: two systems for each."""

import pytest

from tests.simulation.seeds import ALONE, chosen, run
from tickwell.testing.simulation import Fault, scenario_of

FAULTS = [fault for fault in Fault if fault is not Fault.YEAR]


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("seed", chosen(ALONE))
def test_every_promise_is_kept_under(fault, seed):
    run(seed, scenario_of(seed, faults=frozenset({fault})))


@pytest.mark.parametrize("seed", chosen(ALONE))
def test_a_store_that_is_a_year_ahead_is_an_outage_of_a_year(seed):
    run(seed, scenario_of(seed, faults=frozenset({Fault.YEAR})))
