"""Start Python processes under test without the time of their imports: forked, not executed.

    process = start("tickwell", "serve", "--port", "0", cwd=folder, stderr=subprocess.PIPE)

does what `subprocess.Popen([sys.executable, "-m", "tickwell", "serve", …])` does. Tests of what a
start loads or costs, and of terminals, use `subprocess`.
"""

import ctypes
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from tests.processes.fork_server import Start
from tests.servers.private import at_end

ROOT = Path(__file__).parents[2]
#: An interpreter reads them when it starts; the fork server has started.
READ_AT_START = ("PYTHON", "LC_", "LANG")
PR_SET_CHILD_SUBREAPER = 36
#: What `subprocess.Popen` takes for one.
Stream = int | IO[Any] | None


def start(
    module: str,
    *arguments: str,
    cwd: str | Path | None = None,
    env: Mapping[str, str] | None = None,
    stdin: Stream = None,
    stdout: Stream = None,
    stderr: Stream = None,
    text: bool = False,
) -> "subprocess.Popen[Any]":
    """`python -m MODULE ARGUMENTS`, with options of `subprocess.Popen`."""
    how = _Forked if _can_fork(os.environ if env is None else env) else subprocess.Popen
    return how(
        [sys.executable, "-m", module, *arguments],
        cwd=cwd,
        env=env,
        stdin=stdin,
        stdout=stdout,
        stderr=stderr,
        text=text,
    )


def run(module: str, *arguments: str, **options: Any) -> "subprocess.CompletedProcess[str]":
    """The same until it ends, with its output."""
    pipe = subprocess.PIPE
    with start(module, *arguments, stdout=pipe, stderr=pipe, text=True, **options) as process:
        out, err = process.communicate()
    return subprocess.CompletedProcess(process.args, process.returncode, out, err)


def _can_fork(environment: Mapping[str, str]) -> bool:
    """Only on Linux; and broken variants have a process or two each, which pay for no server."""
    if not hasattr(os, "pidfd_open") or "VARIANT" in os.environ:
        return False
    return _read_at_start(environment) == _read_at_start(os.environ)


def _read_at_start(environment: Mapping[str, str]) -> dict[str, str]:
    return {name: environment[name] for name in environment if name.startswith(READ_AT_START)}


class _Forked(subprocess.Popen[Any]):
    """A child like any other: only its start differs."""

    def _execute_child(self, *told: Any) -> None:
        [_, _, module, *arguments], folder, environment = told[0], told[5], told[6]
        # The ends of pipes: ours, and those of the child, or -1 where it has what we have.
        pipes = told[10:16]
        streams = [
            number if end == -1 else end for number, end in enumerate((pipes[0], *pipes[3::2]))
        ]
        asked = Start(
            module,
            arguments,
            str(Path(folder or ".").resolve()),
            dict(os.environ if environment is None else environment),
        )
        try:
            self.pid = _SERVER.fork(asked, streams)
            self._child_created = True
        finally:
            self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]


class _ForkServer:
    """The server of this process, started when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._running: tuple[subprocess.Popen[bytes], socket.socket] | None = None

    def fork(self, start: Start, streams: list[int]) -> int:
        """Have a child of this process forked; its id."""
        with self._lock:
            if self._running is None:
                self._begin()
            assert self._running is not None
            _, connection = self._running
            _be_subreaper(1)
            try:
                socket.send_fds(connection, [start.encode()], streams)
                return int(connection.recv(20))
            except BaseException:
                # Its answer would be taken for that to the next request.
                self.end()
                raise
            finally:
                _be_subreaper(0)

    def _begin(self) -> None:
        ours, its = socket.socketpair(type=socket.SOCK_SEQPACKET)
        with its:
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.processes.fork_server", str(its.fileno())],
                cwd=ROOT,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                pass_fds=[its.fileno()],
            )
        self._running = process, ours
        at_end(self.end)

    def end(self) -> None:
        """Kill the processes that are left."""
        if self._running is not None:
            process, connection = self._running
            self._running = None
            # A mere `close` leaves it open for copies of this process.
            connection.shutdown(socket.SHUT_RDWR)
            connection.close()
            process.wait()


_SERVER = _ForkServer()


def _be_subreaper(value: int) -> None:
    """Whether processes whose parent ends become children of this one."""
    if ctypes.CDLL(None, use_errno=True).prctl(PR_SET_CHILD_SUBREAPER, value, 0, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
