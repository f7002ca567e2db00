"""A PostgreSQL of which nobody else wants anything: killed, stopped, and started again."""

import asyncio
import os
import signal
import subprocess
from contextlib import suppress
from functools import cache
from pathlib import Path

import asyncpg

from tests.processes.child import PATIENCE, is_alive, until
from tests.servers.postgres import _ties, binary, start
from tests.servers.private import at_end


class Victim:
    """The server, from the day it was made until the session ends."""

    def __init__(self, *options):
        server = start(*options)
        self.port = server.port
        self.url = server.url
        self.data = Path(self.ask("SHOW data_directory"))
        command = Path(f"/proc/{self.pid}/cmdline").read_bytes()
        self.command = [part.decode() for part in command.split(b"\0") if part]

    @property
    def pid(self):
        return int((self.data / "postmaster.pid").read_text().split()[0])

    def ask(self, question):
        """Ask as its owner, on a connection of one's own."""

        async def answer():
            connection = await asyncpg.connect(self.url)
            try:
                return await connection.fetchval(question)
            finally:
                await connection.close()

        return asyncio.run(answer())

    def kill(self):
        """-9 for all of its processes."""
        self._end(self.pid, signal.SIGKILL)

    def stop_at_once(self):
        """What `pg_ctl stop -m immediate` sends: no checkpoint, and nobody is asked."""
        self._end(self.pid, signal.SIGQUIT)

    def freeze(self):
        """All of it stands still."""
        for each in _family(self.pid):
            with suppress(ProcessLookupError):
                os.kill(each, signal.SIGSTOP)

    def thaw(self):
        """It goes on."""
        for each in _family(self.pid):
            os.kill(each, signal.SIGCONT)

    def _end(self, pid, number):
        family = _family(pid)
        for each in family if number == signal.SIGKILL else [pid]:
            with suppress(ProcessLookupError):
                os.kill(each, number)
        with suppress(ChildProcessError):
            os.waitpid(pid, 0)
        until(lambda: not any(map(is_alive, family)))

    def become_replica(self):
        """Nothing can be written any more; no primary is needed for that."""
        self._end(self.pid, signal.SIGINT)
        (self.data / "standby.signal").touch()
        self.start()

    def start(self):
        """Again, on the same data; refused for as long as the dead are not buried."""
        until(self._starts)

    def _starts(self):
        process = subprocess.Popen(
            [*_ties(), *self.command], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        ask = [binary("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(self.port)]
        until(
            lambda: subprocess.run(ask, check=False).returncode == 0 or process.poll() is not None
        )
        if process.poll() is not None:
            return False
        at_end(lambda: _stop(process))
        return True


def _family(pid):
    children = Path(f"/proc/{pid}/task/{pid}/children")
    return [pid, *map(int, children.read_text().split())]


def _stop(process):
    process.send_signal(signal.SIGINT)
    process.wait(PATIENCE)


@cache
def victim():
    """The one of this session."""
    return Victim()
