"""Two dozen systems, each with its own mixture of jobs, policies, settings and faults."""

import pytest

from tests.simulation.seeds import AGAIN, SWARM, chosen, run


@pytest.mark.parametrize("seed", chosen(SWARM))
def test_every_promise_is_kept(seed):
    verdict = run(seed)
    assert verdict.executions > 0
    assert verdict.starts > 0
    if seed in AGAIN:
        assert run(seed) == verdict
