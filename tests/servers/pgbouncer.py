"""A private PgBouncer in transaction mode, before the private PostgreSQL."""

import os
import shutil
import subprocess
import tempfile
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

from tests.servers.postgres import _ties, binary, server
from tests.servers.private import at_end, free_port, is_up

ADVICE = "PgBouncer is not installed. As root: apt-get install pgbouncer"
SETTINGS = """
[databases]
{database} = host={host} port={server} user={user} password={password}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = {port}
unix_socket_dir =
auth_type = any
pool_mode = transaction
default_pool_size = 4
max_client_conn = 500
"""


@cache
def pooler():
    """The URL of the database behind it: few connections for many."""
    program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin")
    if program is None:
        raise RuntimeError(ADVICE)
    folder, port = Path(tempfile.mkdtemp(prefix="tickwell-pgbouncer-")), free_port()
    settings = folder / "settings"
    behind = urlsplit(server().url)
    settings.write_text(
        SETTINGS.format(
            database=behind.path[1:],
            host=behind.hostname,
            server=behind.port or 5432,
            user=behind.username,
            password=behind.password,
            port=port,
        )
    )
    if os.getuid() == 0:  # which it refuses to be
        for path in (folder, settings):
            shutil.chown(path, "postgres")
    command = [*_ties(), program, "--quiet", str(settings)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    at_end(lambda: _stop(process, folder))
    ask = [binary("pg_isready"), "-q", "-h", "127.0.0.1", "-p", str(port)]
    if not is_up(process, lambda: subprocess.run(ask, check=False).returncode == 0):
        raise RuntimeError("PgBouncer did not start")
    return f"postgresql://{behind.username}@127.0.0.1:{port}{behind.path}"


def _stop(process, folder):
    process.kill()
    process.wait()
    shutil.rmtree(folder, ignore_errors=True)
