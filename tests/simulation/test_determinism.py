"""Same seed, same run: otherwise a seed that fails proves nothing and reproduces nothing.

In this process the swarm shows it, which runs every tenth of its seeds twice.
"""

import os
import subprocess
import sys

from tests.simulation.seeds import run
from tickwell.testing.simulation import simulate


def test_another_seed_gives_another_run():
    assert run(3).trace != run(46).trace


def test_the_order_of_sets_has_no_say():
    assert _elsewhere("1", 21) == _elsewhere("2", 21) == simulate(21).trace


def _elsewhere(hash_seed, seed):
    code = f"from tickwell.testing.simulation import simulate; print(simulate({seed}).trace)"
    environment = os.environ | {"PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()
