"""A process is stopped at every one of its store calls; nothing is lost, early or doubled.

A connection that is lost there instead: on the specification, in test_memory_sweep.py.
"""

import json
import subprocess
import sys

from tests.processes.start import ROOT


def test_cut_at_every_store_call(tmp_path):
    sweep(tmp_path, "kill")


def sweep(folder, how, *store):
    command = [sys.executable, "-m", "tests.processes.sweep", str(folder), how, *store]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    report = json.loads(done.stdout)
    assert report["writes"] > 30
    reads, writes = report["calls"] - report["writes"], report["writes"]
    cuts = {"kill": reads + 3 * writes, "reset": reads + 2 * writes}
    assert report["cuts"] == cuts[how]
    assert report["wrong"] == {}
