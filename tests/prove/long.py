"""Tests that take too long for `./run test`: they end when they are done."""

import re
import subprocess
import sys
import time

from tests.processes.start import ROOT
from tests.prove.verdict import Verdict

LONG = {
    "celery": "tests/celery/long_engine.py",
    "burst-sqlite": "tests/faults/long_burst.py",
    "burst-postgresql": "tests/faults/postgres/long_burst.py",
    "burst-mysql": "tests/faults/mysql/long_burst.py",
    "burst-mongodb": "tests/faults/mongo/long_burst.py",
    "burst-redis": "tests/faults/redis/long_burst.py",
    # Needs Python 3.12 or newer, and a registry to install Django 6 from.
    "django6": "tests/contrib/django/long_django_6.py",
    "fuzz": "tests/api/long_fuzz.py",
    "kill-sweep-sqlite": "tests/faults/long_kill_sweep.py",
    "kill-sweep-postgresql": "tests/faults/postgres/long_kill_sweep.py",
    "kill-sweep-mysql": "tests/faults/mysql/long_kill_sweep.py",
    "kill-sweep-redis": "tests/faults/redis/long_kill_sweep.py",
    "models": "tests/stores/long_models.py",
    # Needs PgBouncer.
    "pooler-postgresql": "tests/stores/postgres/long_pooler.py",
    "statements-postgresql": "tests/faults/postgres/long_statements.py",
    "plans-postgresql": "tests/plans/long_postgres.py",
    "kill-sweep-mongodb": "tests/faults/mongo/long_kill_sweep.py",
    "simulation": "tests/simulation/long_swarm.py",
    # Needs Python 3.12 or 3.13, and a registry.
    "pythons": "tests/repo/long_pythons.py",
    "plans-sqlite": "tests/plans/long_sqlite.py",
    "servers-mongodb": "tests/faults/mongo/long_servers.py",
    "verify": "tests/testing/long_verify.py",
}


def prove_at_length(name: str, seed: int) -> Verdict:
    """Run one of them; what it says is its violation."""
    verdict, began = Verdict(name, seed), time.monotonic()
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", LONG[name]]
    done = subprocess.run(
        command,
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    passed = re.search(r"(\d+) passed", done.stdout)
    verdict.figures["tests passed"] = int(passed[1]) if passed else 0
    if done.returncode != 0:
        verdict.violations += done.stdout.splitlines()[-20:]
    verdict.seconds = time.monotonic() - began
    return verdict
