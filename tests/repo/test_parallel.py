"""Forked test processes report everything, and never pass over a test in silence."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SOUND = """
import pytest, warnings

@pytest.fixture(scope="session")
def shared(tmp_path_factory):
    return tmp_path_factory.mktemp("shared")

def test_passes(shared, tmp_path):
    tmp_path.joinpath("one").write_text("1")

def test_is_skipped():
    pytest.skip("on purpose")

def test_warns():
    warnings.warn("careful")
"""
FAILS = """
def test_fails():
    print("what it printed")
    assert 1 == 2
"""
DIES = """
import os

def test_dies():
    os._exit(0)

def test_comes_after():
    pass
"""


@pytest.fixture
def run(tmp_path):
    def run(**files):
        for name, text in files.items():
            (tmp_path / f"test_{name}.py").write_text(text)
        command = [sys.executable, "-m", "pytest", "-c", "/dev/null", "-p", "no:cacheprovider"]
        command += ["-p", "no:tickwell.testing.plugin", "-p", "no:schemathesis", "-ra"]
        command += ["-p", "tests.parallel", "--processes", "2", "--rootdir", str(tmp_path)]
        done = subprocess.run(
            [*command, str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
        )
        return done.returncode, done.stdout

    return run


def test_every_outcome_is_reported(run):
    code, out = run(sound=SOUND, again=SOUND)
    assert code == 0, out
    assert "4 passed, 2 skipped, 2 warnings" in out
    assert "UserWarning: careful" in out


def test_a_failure_is_shown_with_what_it_printed(run):
    code, out = run(sound=SOUND, fails=FAILS)
    assert code == 1, out
    assert "assert 1 == 2" in out
    assert "what it printed" in out
    assert "1 failed, 2 passed, 1 skipped, 1 warning" in out


def test_a_process_that_dies_fails_the_run_and_the_others_go_on(run):
    code, out = run(dies=DIES, sound=SOUND)
    assert code == 1, out
    assert "The process ended during test_dies.py::test_dies" in out
    assert "2 tests did not run to their end" in out
    assert "1 failed, 2 passed, 1 skipped, 1 warning" in out
