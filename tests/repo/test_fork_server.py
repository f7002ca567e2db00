"""Forked processes under test are like processes that were executed."""

import json
import os
import signal
import socket
import subprocess
import sys

import pytest

from tests.processes.child import is_alive, state_of, until
from tests.processes.start import ROOT, start

#: All that a program can ask about its own start.
TELLS = """
import gc, json, locale, multiprocessing, os, random, signal, sys, tempfile, time, warnings
main = sys.modules["__main__"]
print(json.dumps({
    "argv": sys.argv, "orig_argv": sys.orig_argv[1:], "path": sys.path, "folder": os.getcwd(),
    "environment": dict(os.environ), "zone": time.tzname, "temporary": tempfile.gettempdir(),
    "main": [main.__name__, main.__file__, main.__spec__.name], "flags": list(sys.flags),
    "parent": os.getppid(), "group": os.getpgrp(), "session": os.getsid(0), "umask": os.umask(0),
    "signals": {n.name: str(signal.getsignal(n)).split(" at ")[0] for n in signal.valid_signals()
        if isinstance(n, signal.Signals)},
    "blocked": sorted(signal.pthread_sigmask(signal.SIG_BLOCK, [])),
    "files": sorted(map(int, os.listdir("/proc/self/fd")))[:-1],
    "streams": [[s.fileno(), s.name, s.mode, s.encoding, s.errors, s.line_buffering,
        s.write_through, s.seekable(), s.newlines] for s in (sys.stdin, sys.stdout, sys.stderr)],
    "locale": locale.getlocale(), "tests": [n for n in sys.modules if n.split(".")[0] == "tests"],
    "warnings": len(warnings.filters), "threads": len(os.listdir("/proc/self/task")),
    "method": multiprocessing.get_start_method(allow_none=True), "nice": os.nice(0),
    "input": sys.stdin.read(), "collected": gc.isenabled(), "tracing": str(sys.gettrace()),
}))
print("to standard error", file=sys.stderr)
sys.exit(int(sys.argv[1]))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "tells.py").write_text(TELLS)
    (tmp_path / "sleeps.py").write_text(
        "import random, time\nprint(random.random(), flush=True)\ntime.sleep(1000)"
    )
    return tmp_path


def told(how, folder):
    """What it says of itself."""
    pipe = subprocess.PIPE
    environment = os.environ | {"TZ": "Asia/Tokyo", "TMPDIR": str(folder), "LÄNGE": "7"}
    with how(
        *("tells", "7", "two words"),
        cwd=folder,
        env=environment,
        stdin=pipe,
        stdout=pipe,
        stderr=pipe,
        text=True,
    ) as process:
        out, err = process.communicate("what it reads")
    assert (process.returncode, err) == (7, "to standard error\n")
    return json.loads(out)


def execute(module, *arguments, **options):
    return subprocess.Popen([sys.executable, "-m", module, *arguments], **options)


def test_it_sees_what_an_executed_process_sees(folder):
    assert told(start, folder) == told(execute, folder)


@pytest.fixture
def sleeping(folder):
    with start("sleeps", cwd=folder, stdout=subprocess.PIPE) as process:
        yield process
        process.kill()


def test_signals_stop_and_end_it(sleeping):
    sleeping.stdout.readline()
    sleeping.send_signal(signal.SIGSTOP)
    until(lambda: state_of(sleeping.pid) == "T")
    assert sleeping.poll() is None
    sleeping.kill()
    assert sleeping.wait() == -signal.SIGKILL
    assert state_of(sleeping.pid) == ""


def test_its_pipe_ends_with_it(sleeping):
    sleeping.stdout.readline()
    sleeping.terminate()
    assert sleeping.stdout.read() == b""
    assert sleeping.wait() == -signal.SIGTERM


def test_its_random_numbers_are_its_own(folder):
    numbers = set()
    for _ in range(3):
        with start("sleeps", cwd=folder, stdout=subprocess.PIPE) as process:
            assert process.stdout is not None
            numbers.add(process.stdout.readline())
            process.kill()
    assert len(numbers) == 3


def test_it_ends_with_the_process_that_asked_for_it(folder):
    code = """
import sys, subprocess
from tests.processes.start import ROOT, start
process = start("sleeps", cwd=sys.argv[1], stdout=subprocess.PIPE)
process.stdout.readline()
print(process.pid, flush=True)
sys.stdin.read()
"""
    pipe = subprocess.PIPE
    command = [sys.executable, "-c", code, str(folder)]
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe) as asking:
        assert asking.stdout is not None
        pid = int(asking.stdout.readline())
        assert is_alive(pid)
        asking.kill()
    until(lambda: not is_alive(pid))


def test_another_start_of_the_interpreter_is_a_real_one(folder):
    """The one that forks has read such variables already."""
    with start("sleeps", cwd=folder, env=os.environ | {"PYTHONHASHSEED": "1"}) as process:
        assert type(process) is subprocess.Popen
        process.kill()


def test_what_an_interrupted_request_leaves_is_no_answer_to_the_next(sleeping, monkeypatch):
    sleeping.stdout.readline()
    first = sleeping.pid
    monkeypatch.setattr(socket.socket, "recv", lambda *_: interrupt())
    with pytest.raises(KeyboardInterrupt):
        start("sleeps")
    monkeypatch.undo()
    # The server has ended, and with it whatever it had forked.
    until(lambda: not is_alive(first))
    with start("sleeps", cwd="/", stderr=subprocess.PIPE) as process:
        process.communicate()
    assert process.returncode == 1


def interrupt():
    raise KeyboardInterrupt
