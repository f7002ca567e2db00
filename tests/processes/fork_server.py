"""A process that has Tickwell imported, and forks processes under test that then start at once.

    python -m tests.processes.fork_server DESCRIPTOR

An import takes up to a second of processor time, and the tests start hundreds of processes. Each
message on the socket DESCRIPTOR is one `Start` with its standard streams; the answer is a process
id. When the socket ends, all forked processes are killed. `tests.processes.start` is the client.
"""

import gc
import importlib
import io
import json
import os
import runpy
import select
import signal
import socket
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

#: What agents and `tickwell serve` import. None of it may look at the environment, start a thread
#: or an event loop, or change what the code under test does: OpenTelemetry would, and FastAPI and
#: the driver of Redis import it.
IMPORTED = (
    "tests.processes.agent",
    "tickwell.api.server",
    "tickwell.cli.config.configuration",
    "tickwell.cli.main",
    "tickwell.cli.serving.serve",
    "tickwell.cli.serving.service",
    "tickwell.engine.supervisor",
    "tickwell.executors.celery.executor",
    "tickwell.executors.http.executor",
    "tickwell.observe.log_output.output",
    "tickwell.services.admin.admin",
    "tickwell.services.alerts.evaluator",
    "tickwell.services.alerts.observing",
    "tickwell.services.operations",
    "tickwell.stores.mongo.store",
    "tickwell.stores.mysql.store",
    "tickwell.stores.postgres.store",
    "tickwell.stores.sqlite.store",
    *("argon2", "jinja2", "pydantic.v1", "starlette.applications", "typer._adapters"),
    *("uvicorn.protocols.http.httptools_impl", "uvloop"),
)
#: A message with its environment takes a few thousand bytes.
LONGEST = 1 << 20


@dataclass(frozen=True)
class Start:
    """A request for one process."""

    module: str
    arguments: list[str]
    folder: str
    environment: dict[str, str]

    def encode(self) -> bytes:
        """As it is sent."""
        return json.dumps(asdict(self)).encode("ascii")


class ForkServer:
    """Forks until the socket ends."""

    def __init__(self, requests: socket.socket) -> None:
        self._requests = requests
        #: File descriptors of processes: unlike an id, one never means another process.
        self._forked: list[int] = []

    def serve(self) -> Start | None:
        """Return in each forked process with its request, and here with None at the end."""
        while True:
            message, streams = b"", list[int]()
            with suppress(ConnectionResetError):  # it ended without reading an answer
                message, streams, _, _ = socket.recv_fds(self._requests, LONGEST, 3)
            if not message:
                self._kill_all()
                return None
            if (pid := self._fork()) is None:
                start = Start(**json.loads(message))
                _become(start, streams)
                return start
            # A pipe ends when the last process has closed it.
            for stream in streams:
                os.close(stream)
            with suppress(BrokenPipeError):  # nobody waits for it, and nobody asks again
                self._requests.send(str(pid).encode())

    def _fork(self) -> int | None:
        """Fork a child of the client, which waits for it as for its own; None in that child.

        The child's parent exits at once, so that the child goes to the next ancestor that is a
        subreaper: the client. It does nothing before that has happened.
        """
        self._forget_ended()
        answer, told = os.pipe()
        gate, opened = os.pipe()
        if (parent := os.fork()) == 0:
            if (pid := os.fork()) == 0:
                os.close(opened)
                os.read(gate, 1)
                return None
            os.write(told, str(pid).encode())
            os._exit(0)
        pid = int(os.read(answer, 20))
        self._forked.append(os.pidfd_open(pid))
        os.waitpid(parent, 0)
        for descriptor in (answer, told, gate, opened):
            os.close(descriptor)
        return pid

    def _forget_ended(self) -> None:
        poll = select.poll()
        for descriptor in self._forked:
            poll.register(descriptor, select.POLLIN)
        for descriptor, _ in poll.poll(0):
            self._forked.remove(descriptor)
            os.close(descriptor)

    def _kill_all(self) -> None:
        for descriptor in self._forked:
            with suppress(ProcessLookupError):
                signal.pidfd_send_signal(descriptor, signal.SIGKILL)


def _become(start: Start, streams: list[int]) -> None:
    """Look like a process that was started with `python -m`."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        _open_stream(number, name)
    os.closerange(3, os.sysconf("SC_OPEN_MAX"))
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.chdir(start.folder)
    os.environ.clear()
    os.environ.update(start.environment)
    time.tzset()
    tempfile.tempdir = None
    sys.path[0] = start.folder
    sys.orig_argv[1:] = ["-m", start.module, *start.arguments]
    sys.argv[1:] = start.arguments
    importlib.invalidate_caches()


def _open_stream(number: int, name: str) -> None:
    """A stream remembers of its file whether it can seek there."""
    old = getattr(sys, name)
    is_buffered = hasattr(old.buffer, "raw")
    binary: Any = open(  # noqa: SIM115 - open until the process ends
        number, f"{old.mode}b", buffering=-1 if is_buffered else 0, closefd=False
    )
    (binary.raw if is_buffered else binary).name = f"<{name}>"
    stream: Any = io.TextIOWrapper(
        binary,
        old.encoding,
        old.errors,
        line_buffering=old.line_buffering,
        write_through=old.write_through,
    )
    stream.mode = old.mode
    setattr(sys, name, stream)
    setattr(sys, f"__{name}__", stream)


def _import_all() -> None:
    for name in IMPORTED:
        importlib.import_module(name)
    # In other folders there are no tests to import; here it takes no time.
    for name in [name for name in sys.modules if name.partition(".")[0] == "tests"]:
        del sys.modules[name]
    if len([*Path("/proc/self/task").iterdir()]) > 1:
        raise RuntimeError(f"An import started a thread: {threading.enumerate()}")
    if "opentelemetry" in sys.modules:
        raise RuntimeError("An import has brought OpenTelemetry, which the code under test notices")
    # No garbage collection visits it, so hardly a page of it is copied.
    gc.collect()
    gc.freeze()


def main() -> None:
    # Ctrl-C ends the tests, and they end it.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    requests = socket.socket(fileno=int(sys.argv[1]))
    _import_all()
    start = ForkServer(requests).serve()
    requests.detach()
    if start is not None:
        runpy.run_module(start.module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main()
