"""Runs one seed and says how to run it again."""

import os

import pytest

from tickwell.testing.simulation import Scenario, Verdict, scenario_of, simulate

#: SEED=17 ./run test tests/simulation runs this one alone, wherever seeds are asked for.
CHOSEN = os.environ.get("SEED")
#: Mixtures of faults, and each fault alone.
SWARM = range(50)
ALONE = range(1000, 1005)


def chosen(seeds: range) -> list[int]:
    return [int(CHOSEN)] if CHOSEN else list(seeds)


def run(seed: int, scenario: Scenario | None = None) -> Verdict:
    scenario = scenario or scenario_of(seed)
    try:
        return simulate(seed, scenario)
    except AssertionError as violation:
        test = os.environ.get("PYTEST_CURRENT_TEST", "tests/simulation").split("::")[0]
        again = f"SEED={seed} ./run test {test}"
        pytest.fail(f"{violation}\n{scenario}\nRun it again: {again}", pytrace=False)
