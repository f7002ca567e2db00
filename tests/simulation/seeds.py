"""Runs one seed and says how to run it again."""

import os
from dataclasses import replace

import pytest

from tickwell.testing.simulation import Scenario, Verdict, scenario_of, simulate

#: SEED=17 ./run test tests/simulation runs this one alone, wherever seeds are asked for.
CHOSEN = os.environ.get("SEED")
#: Mixtures of faults, and each fault alone.
SWARM = range(24)
#: More of them, for `./run prove --only simulation`.
LONG_SWARM = range(24, 400)
ALONE, LONG_ALONE = range(1000, 1002), range(1002, 1020)
#: These are in trouble for 40 s at most: twice the systems for half as much again.
SHORT = range(20, 40)
#: These are run twice.
AGAIN = range(3, 24, 10)


def chosen(seeds: range) -> list[int]:
    return [int(CHOSEN)] if CHOSEN else list(seeds)


def system_of(seed: int) -> Scenario:
    """What a seed of the swarm stands for."""
    whole = scenario_of(seed)
    return replace(whole, duration=min(whole.duration, 40.0)) if seed in SHORT else whole


def run(seed: int, scenario: Scenario | None = None) -> Verdict:
    scenario = scenario or system_of(seed)
    try:
        return simulate(seed, scenario)
    except AssertionError as violation:
        test = os.environ.get("PYTEST_CURRENT_TEST", "tests/simulation").split("::")[0]
        again = f"SEED={seed} ./run test {test}"
        pytest.fail(f"{violation}\n{scenario}\nRun it again: {again}", pytrace=False)
