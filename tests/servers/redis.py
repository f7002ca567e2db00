"""A private Redis: on a free loopback port, its data in a temporary folder.

`TICKWELL_TEST_REDIS`, the URL of a database whose keys may be written, wins when it is set.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.servers.private import at_end, free_port, is_up

ADVICE = "Redis is not installed. As root: apt-get install redis-server"


@dataclass
class Server:
    port: int
    url: str
    folder: Any = None
    options: tuple = ()
    process: Any = field(default=None, repr=False)

    def kill(self):
        self.process.kill()
        self.process.wait()

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def run(self):
        """Start it, or start it again on the data that is there."""
        command = ["--port", str(self.port), "--bind", "127.0.0.1", "--dir", str(self.folder)]
        command += ["--save", "", *self.options]
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([*_ties(), binary(), *command], stdout=log, stderr=log)
        self._wait()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def _wait(self):
        if not is_up(self.process, self._answers, rest=0.02):
            raise RuntimeError(f"Redis did not start: {(self.folder / 'log').read_text()}")

    def _answers(self):
        said = self._say(b"PING\r\n")
        return b"+PONG" in said or b"-NOAUTH" in said

    def _say(self, words):
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                connection.sendall(words)
                return connection.recv(100)
        except OSError:
            return b""


@cache
def server(*options):
    """The server of this session, started by whoever asks first."""
    given = os.environ.get("TICKWELL_TEST_REDIS")
    if given:
        return Server(0, given)
    return start(*options)


def start(*options):
    """A server of one's own, with these settings on top."""
    port = free_port()
    folder = Path(tempfile.mkdtemp(prefix="tickwell-redis-"))
    started = Server(port, f"redis://127.0.0.1:{port}/0", folder, options)
    at_end(lambda: _end(started))
    started.run()
    return started


def binary():
    found = shutil.which("redis-server")
    if found is None:
        raise RuntimeError(ADVICE)
    return found


def _ties():
    """Stopped by the kernel should we be killed."""
    return ["setpriv", "--pdeathsig=KILL", "--"] if shutil.which("setpriv") else []


def _end(started):
    started.stop()
    shutil.rmtree(started.folder, ignore_errors=True)
