"""What a store lets Tickwell promise: one row for each kind, printed at start."""

from __future__ import annotations

from dataclasses import dataclass, fields

YES = "yes"
#: Held when a process is killed, not when the power goes or another server takes over.
PROCESS = "when a process dies"
NO = "no"


@dataclass(frozen=True, slots=True, kw_only=True)
class Promises:
    """The promises that depend on where data lives; all others hold everywhere."""

    #: The store and, where it matters, how it is set up.
    store: str
    #: G1: one record per fire time.
    one_record: str = YES
    #: G2, G3, G19: what was acknowledged is not lost, and every fire time is answered.
    nothing_lost: str = YES
    #: G7: a worker that was declared lost can change nothing.
    fencing: str = YES
    #: Processes on several hosts may share it.
    many_hosts: str = YES
    #: G9: whose clock decides what is due.
    clock: str = "the server's"

    def __str__(self) -> str:
        """What a reader must know: where less is promised than elsewhere."""
        less = [
            f"{_WORDS[each.name]}: {getattr(self, each.name)}"
            for each in fields(self)[1:]
            if getattr(self, each.name) != each.default
        ]
        limits = f", with limits: {'; '.join(less)}" if less else ""
        return f"on {self.store} all promises hold{limits}"


_WORDS = {
    "one_record": "one record per fire",
    "nothing_lost": "nothing lost",
    "fencing": "fencing",
    "many_hosts": "many hosts",
    "clock": "clock",
}

MEMORY = Promises(
    store="memory",
    nothing_lost="while the process lives",
    many_hosts="no, one process",
    clock="the host's",
)
SQLITE = Promises(store="SQLite", many_hosts="no, many processes on one host", clock="the host's")
SQLITE_NORMAL = Promises(
    store="SQLite, synchronous=normal",
    nothing_lost=PROCESS,
    many_hosts="no, many processes on one host",
    clock="the host's",
)
POSTGRESQL = Promises(store="PostgreSQL")
MYSQL = Promises(store="MySQL and MariaDB")
MONGODB = Promises(store="MongoDB, replica set")
MONGODB_STANDALONE = Promises(store="MongoDB, standalone", nothing_lost="as far as its journal")
REDIS_ALWAYS = Promises(store="Redis, appendfsync always", nothing_lost="on one primary")
REDIS_EVERYSEC = Promises(
    store="Redis, appendfsync everysec",
    one_record=PROCESS,
    nothing_lost="but for about the last second",
    fencing=PROCESS,
)
REDIS_VOLATILE = Promises(
    store="Redis without an append-only file",
    one_record="while the server lives",
    nothing_lost="while the server lives",
    fencing="while the server lives",
)

#: Every row, as docs/promises.md has them.
ALL = (
    MEMORY,
    SQLITE,
    SQLITE_NORMAL,
    POSTGRESQL,
    MYSQL,
    MONGODB,
    MONGODB_STANDALONE,
    REDIS_ALWAYS,
    REDIS_EVERYSEC,
    REDIS_VOLATILE,
)
