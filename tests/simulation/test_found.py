"""Seeds that found something once; each is named for what it found.

What a seed does changes with the code, so each finding has a test or a variant of its own as well.
"""

from dataclasses import replace

import pytest

from tests.simulation.seeds import run
from tickwell.testing.simulation import Fault, scenario_of

FOUND = {
    "a claim given back by a draining worker started early elsewhere": 12,
    "a claim whose reply was lost was taken twice": 80,
    "a worker whose pulse rested longer than others after an outage was declared lost": 82,
    "a worker was declared lost while a claim was under way": 96,
}


#: By calls that take seconds, and nothing else.
FOUND_SLOW = {
    "a recalled fire that its plan skipped for a run under way passed for forgotten": 1099,
    "the second of two that came back took a cursor back over what was planned again": 1107,
    "what was planned ahead was counted as missed when a plan came late after a recall": 1264,
    "going back over a fire that a range had answered passed for a defect": 1236,
}


@pytest.mark.parametrize("seed", FOUND.values(), ids=FOUND.keys())
def test_is_mended(seed):
    run(seed, scenario_of(seed))


@pytest.mark.parametrize("seed", FOUND_SLOW.values(), ids=FOUND_SLOW.keys())
def test_is_mended_where_calls_are_slow(seed):
    run(seed, scenario_of(seed, faults=frozenset({Fault.SLOWNESS})))


@pytest.mark.parametrize("seed", [5, 6])
def test_the_slots_of_handlers_that_never_end_are_not_claimed_for(seed):
    scenario = scenario_of(seed, faults=frozenset({Fault.PEOPLE}))
    run(seed, replace(scenario, settings=replace(scenario.settings, capacity=2, lead="100ms")))
