"""Fifty systems, each with its own mixture of jobs, policies, settings and faults."""

import pytest

from tests.simulation.seeds import run, seeds


@pytest.mark.parametrize("seed", seeds(0, 50))
def test_every_promise_is_kept(seed):
    verdict = run(seed)
    assert verdict.executions > 0
    assert verdict.starts > 0
