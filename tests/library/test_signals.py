"""One request to stop may come by two ways; only one that comes again is in a hurry."""

import asyncio
import signal
import subprocess
import sys

from tickwell.declared.signals import Repeats

PATIENCE = 100
PROGRAM = """
from tickwell import Scheduler

scheduler = Scheduler("sqlite:///jobs.db")

@scheduler.on("start")
def start():
    print("started", flush=True)

@scheduler.on("stop")
async def stop():
    print("drained", flush=True)

scheduler.run()
"""


async def test_what_comes_at_once_is_one_request():
    repeats, later = Repeats(within=0.0), asyncio.Event()
    assert not repeats.hear()
    assert not repeats.hear()
    asyncio.get_running_loop().call_later(0.01, later.set)
    await later.wait()
    assert repeats.hear()


def test_a_program_that_gets_two_signals_at_once_drains(tmp_path):
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "started\n"
        # Stopped meanwhile, so that it finds both, however slow the machine is.
        for number in (signal.SIGSTOP, signal.SIGTERM, signal.SIGINT, signal.SIGCONT):
            process.send_signal(number)
        assert process.stdout.readline() == "drained\n"
        assert process.wait(PATIENCE) == 0
