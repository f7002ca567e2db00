"""The end of a program with a scheduler in the background: silent, in every version of Python."""

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import tickwell

DEADLINE = 300
SOURCE = Path(tickwell.__file__).parents[1]
#: Other versions on this machine, if there are any: the library itself needs nothing else.
VERSIONS = [
    sys.executable,
    *map(str, sorted(Path.home().glob(".pyenv/versions/3.1[2-9]*/bin/python"))),
]
PROGRAM = """
    import sys, threading
    sys.path.insert(0, sys.argv[1])
    from tickwell import Scheduler

    scheduler, ran = Scheduler(sys.argv[2]), threading.Event()

    @scheduler.job()
    async def work() -> None:
        ran.set()

    @scheduler.on("stop")
    def stopped() -> None:
        print("stopped")

    scheduler.start_in_background()
    work.blocking.trigger()
    assert ran.wait(100)

    def refuse(_thread):
        raise RuntimeError("can't create new thread at interpreter shutdown")

    def as_python_3_12() -> None:
        threading.Thread.start = refuse

    threading._register_atexit(as_python_3_12)
"""


@pytest.mark.parametrize("python", VERSIONS)
def test_no_thread_is_needed_to_stop_at_the_end_of_the_program(python, tmp_path):
    script = tmp_path / "program.py"
    script.write_text(textwrap.dedent(PROGRAM))
    done = subprocess.run(
        [python, "-W", "error", script, SOURCE, f"sqlite:///{tmp_path}/jobs.db"],
        capture_output=True,
        text=True,
        timeout=DEADLINE,
        check=False,
    )
    assert (done.stdout, done.stderr, done.returncode) == ("stopped\n", "", 0)
