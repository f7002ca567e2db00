"""Rates hold through crashes, pauses and outages, by the instants at which targets are called."""

from dataclasses import replace

import pytest

from tests.simulation.seeds import run, system_of


@pytest.mark.parametrize("seed", [7, 19])
def test_no_period_has_more_starts_than_the_rate(seed):
    system = replace(system_of(seed), rated=True, duration=40.0)
    verdict = run(seed, system)
    assert verdict.starts > 0
