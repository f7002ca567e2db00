"""Same seed, same run: otherwise a seed that fails proves nothing and reproduces nothing.

In this process the swarm shows it, which runs every tenth of its seeds twice.
"""

import gc
import os
import subprocess
import sys

import pytest

from tests.simulation.seeds import run
from tickwell.engine.running.start_guard import COLLECT_ANYWHERE, OLDER_GENERATIONS
from tickwell.errors import NotRunning
from tickwell.testing.simulation import simulate


def test_another_seed_gives_another_run():
    assert run(3).trace != run(46).trace


def test_the_order_of_sets_has_no_say():
    assert _elsewhere("1", 21) == _elsewhere("2", 21) == simulate(21).trace


def test_the_garbage_of_this_process_has_no_say():
    """An engine looks for it after an instant, in a process that is all its own."""
    before = gc.get_threshold()
    gc.set_threshold(COLLECT_ANYWHERE, OLDER_GENERATIONS, OLDER_GENERATIONS)
    try:
        ours = simulate(21).trace
    finally:
        gc.set_threshold(*before)
    assert ours == simulate(21).trace


def _elsewhere(hash_seed, seed):
    code = f"from tickwell.testing.simulation import simulate; print(simulate({seed}).trace)"
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


async def test_a_simulation_is_refused_inside_an_event_loop():
    with pytest.raises(NotRunning, match="call it in a test that is not async, or in a thread"):
        simulate(21)
