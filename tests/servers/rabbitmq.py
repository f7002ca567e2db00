"""A private RabbitMQ: on free loopback ports, with its own data, cookie and port mapper.

`TICKWELL_TEST_RABBITMQ`, the URL of a virtual host whose queues may be written, wins when it is
set.
"""

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.servers.private import at_end, free_port, is_up

ADVICE = "RabbitMQ is not installed. As root: apt-get install rabbitmq-server"
#: Without the wrapper that changes to the user of the system's own server.
SCRIPT = Path("/usr/lib/rabbitmq/bin/rabbitmq-server")
GREETING = b"AMQP\x00\x00\x09\x01"


@dataclass
class Server:
    port: int
    url: str
    folder: Any = None
    mapper_port: int = 0
    process: Any = field(default=None, repr=False)
    mapper: Any = field(default=None, repr=False)

    def run(self):
        """Start it, or start it again on the data that is there."""
        if self.mapper is None:
            self.mapper = subprocess.Popen(
                [*_ties(), "epmd", "-port", str(self.mapper_port), "-address", "127.0.0.1"]
            )
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen(
                [*_ties(), str(SCRIPT)],
                stdout=log,
                stderr=log,
                env=self._environment(),
                start_new_session=True,
            )
        if not is_up(self.process, self._answers):
            raise RuntimeError(f"RabbitMQ did not start: {(self.folder / 'log').read_text()}")

    def kill(self):
        """With all of its processes, at once."""
        with suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process is not None:
            self.kill()
        if self.mapper is not None:
            self.mapper.kill()
            self.mapper.wait()

    def _environment(self):
        folder = str(self.folder)
        return {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "ERL_EPMD_PORT": str(self.mapper_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": f"tickwell{self.port}@localhost",
            "RABBITMQ_NODE_IP_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_DIST_PORT": str(free_port()),
            "RABBITMQ_MNESIA_BASE": f"{folder}/data",
            "RABBITMQ_LOG_BASE": f"{folder}/logs",
            "RABBITMQ_PID_FILE": f"{folder}/pid",
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{folder}/plugins",
            "RABBITMQ_CONF_ENV_FILE": f"{folder}/none",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "+S 2:2 +sbwt none -start_epmd false",
        }

    def _answers(self):
        with suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 1) as link:
            link.sendall(GREETING)
            return link.recv(1) == b"\x01"
        return False


@cache
def server():
    """The server of this session, started by whoever asks first."""
    given = os.environ.get("TICKWELL_TEST_RABBITMQ")
    return Server(0, given) if given else start()


def start():
    """A server of one's own."""
    if not SCRIPT.exists():
        raise RuntimeError(ADVICE)
    port, mapper_port = free_port(), free_port()
    folder = Path(tempfile.mkdtemp(prefix="tickwell-rabbitmq-"))
    (folder / "plugins").write_text("[].\n")
    url = f"amqp://guest:guest@127.0.0.1:{port}//"
    started = Server(port, url, folder, mapper_port)
    at_end(lambda: _end(started))
    started.run()
    return started


def _ties():
    """Stopped by the kernel should we be killed."""
    return ["setpriv", "--pdeathsig=KILL", "--"] if shutil.which("setpriv") else []


def _end(started):
    started.stop()
    shutil.rmtree(started.folder, ignore_errors=True)
