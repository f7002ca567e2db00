"""What tests of the library share."""

import subprocess
import sys
import textwrap
import threading

import pytest

DEADLINE = 300


@pytest.fixture
def ours():
    """Answers the threads of Tickwell that began within the test and do not end.

    It waits for all but those that are expected to stay.
    """
    before = set(threading.enumerate())

    def left(*staying):
        begun = [each for each in threading.enumerate() if each not in before]
        found = [each for each in begun if each.name.startswith("tickwell")]
        for thread in found:
            if thread.name not in staying:
                thread.join(DEADLINE)
        return [thread.name for thread in found if thread.is_alive()]

    return left


@pytest.fixture
def program(tmp_path):
    """Runs a text as a program of its own, every warning an error; what it prints, and its code."""

    def run(text, *arguments):
        script = tmp_path / "program.py"
        script.write_text(textwrap.dedent(text))
        done = subprocess.run(
            [sys.executable, "-W", "error", script, *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=DEADLINE,
            check=False,
        )
        return done.stdout, done.stderr, done.returncode

    return run
