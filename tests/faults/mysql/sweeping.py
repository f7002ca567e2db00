"""The kill sweep on MariaDB: a set of tables for each cut."""

from functools import cache

from tests.faults.test_kill_sweep import sweep
from tests.servers.mariadb import start


@cache
def hasty():
    """A server that does not wait for its disk: it is the client that is killed.

    All tables are in one file: making files for them would be most of the work.
    """
    in_memory = ("--innodb-flush-log-at-trx-commit=0", "--innodb-flush-method=nosync")
    return start(*in_memory, "--innodb-file-per-table=0")


def swept(folder, how):
    # One connection for each process: making more is most of the work.
    sweep(folder, how, f"{hasty().url}?pool=1&prefix={how}_{{place}}_")
