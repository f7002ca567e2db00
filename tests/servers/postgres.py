"""A private PostgreSQL: on a free loopback port, its data in a temporary folder.

`TICKWELL_TEST_POSTGRES`, the URL of a database in which schemas may be made, wins when it is set.
"""

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.servers.data_folder import quick_folder
from tests.servers.private import at_end, free_port, is_up

USER, PASSWORD = "tickwell", "secret"
ADVICE = "PostgreSQL is not installed. As root: apt-get install postgresql"


@dataclass(frozen=True)
class Server:
    port: int
    url: str


@cache
def server(*, on_disk=False):
    """The server of this session, started by whoever asks first."""
    given = os.environ.get("TICKWELL_TEST_POSTGRES")
    if given:
        return Server(0, given)
    return start(on_disk=on_disk)


def start(*options, on_disk=False):
    """A server of one's own, with these settings on top."""
    folder = quick_folder("tickwell-postgres-", on_disk=on_disk)
    data, secret, log = folder / "data", folder / "password", folder / "log"
    secret.write_text(PASSWORD)
    as_postgres = []
    if os.getuid() == 0:  # which PostgreSQL refuses
        as_postgres = ["runuser", "-u", "postgres", "--"]
        for path in (folder, secret):
            shutil.chown(path, "postgres")
    auth = [
        "--auth-local=peer",
        "--auth-host=md5",  # the other way costs both sides 4,096 hashes for each connection
        f"--pwfile={secret}",
        f"--username={USER}",
    ]
    place = [f"--pgdata={data}", "--encoding=UTF8", "--locale=C", "--no-sync"]
    subprocess.run(
        [*as_postgres, binary("initdb"), *place, *auth], check=True, stdout=subprocess.DEVNULL
    )
    port = free_port()
    settings = ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"]
    settings += ["fsync=on", "log_min_messages=fatal", *options]
    command = [binary("postgres"), "-D", str(data), "-p", str(port)]
    command += [part for setting in settings for part in ("-c", setting)]
    with log.open("wb") as output:
        process = subprocess.Popen([*_ties(), *command], stdout=output, stderr=output)
    at_end(lambda: _stop(process, folder))
    _wait(process, port, log)
    return Server(port, f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{port}/postgres")


def binary(name):
    """A program of the newest PostgreSQL here; Debian keeps them off the PATH."""
    debian = Path("/usr/lib/postgresql").glob(f"*/bin/{name}")
    newest = sorted(debian, key=lambda path: float(path.parts[-3]))
    found = str(newest[-1]) if newest else shutil.which(name)
    if found is None:
        raise RuntimeError(ADVICE)
    return found


def _ties():
    """As its own user where we are root; stopped by the kernel should we be killed."""
    if shutil.which("setpriv") is None:
        return []
    user = ["--reuid=postgres", "--regid=postgres", "--init-groups"] if os.getuid() == 0 else []
    return ["setpriv", *user, "--pdeathsig=INT", "--"]


def _wait(process, port, log):
    ask = [binary("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
    if not is_up(process, lambda: subprocess.run(ask, check=False).returncode == 0):
        raise RuntimeError(f"PostgreSQL did not start: {log.read_text()}")


def _stop(process, folder):
    process.send_signal(signal.SIGINT)  # fast: nobody is waited for
    try:
        process.wait(20)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    shutil.rmtree(folder, ignore_errors=True)
