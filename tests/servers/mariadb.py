"""A private MariaDB: on a free loopback port, its data in a temporary folder.

`TICKWELL_TEST_MYSQL`, the URL of a database in which tables may be made, wins when it is set.
"""

import os
import shutil
import signal
import socket
import subprocess
from dataclasses import dataclass, field
from functools import cache
from typing import Any

from tests.servers.data_folder import quick_folder
from tests.servers.private import at_end, free_port, is_up

USER, PASSWORD, DATABASE = "tickwell", "secret", "tickwell"
ADVICE = "MariaDB is not installed. As root: apt-get install mariadb-server"
_ACCOUNT = f"""
CREATE DATABASE {DATABASE};
CREATE USER '{USER}'@'127.0.0.1' IDENTIFIED BY '{PASSWORD}';
GRANT ALL PRIVILEGES ON *.* TO '{USER}'@'127.0.0.1' WITH GRANT OPTION;
"""


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
        command = [binary("mariadbd"), "--no-defaults", *self._place()]
        command += [f"--init-file={self.folder / 'account.sql'}"] if self.process is None else []
        with (self.folder / "log").open("ab") as log:
            self.process = subprocess.Popen([*_ties(), *command], stdout=log, stderr=log)
        self._wait()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()

    def _place(self):
        place = [f"--datadir={self.folder / 'data'}", f"--socket={self.folder / 'socket'}"]
        place += [f"--port={self.port}", "--bind-address=127.0.0.1", "--skip-name-resolve"]
        place += [f"--pid-file={self.folder / 'pid'}", "--max-connections=300"]
        # A server that starts clears the temporary tables of others from a shared folder.
        place += [f"--tmpdir={self.folder / 'temporary'}"]
        return [*place, "--innodb-flush-log-at-trx-commit=1", *self.options]

    def _wait(self):
        if not is_up(self.process, self._answers):
            raise RuntimeError(f"MariaDB did not start: {(self.folder / 'log').read_text()}")

    def _answers(self):
        try:
            with socket.create_connection(("127.0.0.1", self.port), 1) as connection:
                return connection.recv(100)
        except OSError:
            return False


@cache
def server(*options, on_disk=False):
    """The server of this session, started by whoever asks first."""
    given = os.environ.get("TICKWELL_TEST_MYSQL")
    if given:
        return Server(0, given)
    return start(*options, on_disk=on_disk)


def start(*options, on_disk=False):
    """A server of one's own, with these settings on top."""
    folder, port = quick_folder("tickwell-mariadb-", on_disk=on_disk), free_port()
    (folder / "account.sql").write_text(_ACCOUNT)
    (folder / "data").mkdir()
    (folder / "temporary").mkdir()
    if os.getuid() == 0:  # which MariaDB refuses
        for path in (folder, folder / "data", folder / "temporary", folder / "account.sql"):
            shutil.chown(path, "mysql")
    install = [binary("mariadb-install-db"), "--no-defaults", f"--datadir={folder / 'data'}"]
    install += [f"--tmpdir={folder / 'temporary'}"]
    install += ["--auth-root-authentication-method=normal", "--skip-test-db", *_user()]
    subprocess.run(install, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    url = f"mysql://{USER}:{PASSWORD}@127.0.0.1:{port}/{DATABASE}"
    started = Server(port, url, folder, options)
    at_end(lambda: _end(started))
    started.run()
    return started


def binary(name):
    """Debian keeps the server off the PATH of users."""
    found = shutil.which(name, path=f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin")
    if found is None:
        raise RuntimeError(ADVICE)
    return found


def _user():
    return ["--user=mysql"] if os.getuid() == 0 else []


def _ties():
    """As its own user where we are root; stopped by the kernel should we be killed."""
    if shutil.which("setpriv") is None:
        return []
    user = ["--reuid=mysql", "--regid=mysql", "--init-groups"] if os.getuid() == 0 else []
    return ["setpriv", *user, "--pdeathsig=KILL", "--"]


def _end(started):
    started.stop()
    shutil.rmtree(started.folder, ignore_errors=True)
