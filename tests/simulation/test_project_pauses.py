"""Projects paused and resumed over and over, alone and among other faults."""

from dataclasses import replace

import pytest

from tests.simulation.seeds import chosen, run
from tickwell.testing.simulation import Fault, scenario_of

#: What a pause meets that is broken off, late, or not heard of.
OTHERS = frozenset({Fault.CRASH, Fault.PAUSE, Fault.LOSS})


@pytest.mark.parametrize("others", [frozenset(), OTHERS], ids=["alone", "among others"])
@pytest.mark.parametrize("seed", chosen(range(8, 14)))
def test_a_paused_project_fires_nothing_and_is_not_left_paused(seed, others):
    scenario = scenario_of(seed, faults=others | {Fault.PROJECT})
    run(seed, replace(scenario, duration=min(scenario.duration, 40.0)))
