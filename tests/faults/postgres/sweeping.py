"""The kill sweep on PostgreSQL: a schema for each cut."""

from functools import cache

from tests.faults.test_kill_sweep import sweep
from tests.servers.postgres import start


@cache
def hasty():
    """A server that does not wait for its disk: it is the client that is killed."""
    return start("fsync=off", "synchronous_commit=off")


def swept(folder, how):
    # One connection for each process: making more is most of the work.
    sweep(folder, how, f"{hasty().url}?pool=1&schema={how}_{{place}}")
