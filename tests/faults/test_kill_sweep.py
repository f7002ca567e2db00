"""A process is stopped at every one of its store calls; nothing is lost, early or doubled."""

import json
import subprocess
import sys

import pytest

from tests.processes.child import ROOT


@pytest.mark.parametrize("how", ["kill", "reset"])
def test_cut_at_every_store_call(tmp_path, how):
    command = [sys.executable, "-m", "tests.processes.sweep", str(tmp_path), how]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, check=True)
    report = json.loads(done.stdout)
    assert report["writes"] > 30
    assert report["cuts"] == report["calls"] + report["writes"] * (2 if how == "kill" else 1)
    assert report["wrong"] == {}
