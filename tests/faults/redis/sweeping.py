"""The kill sweep on Redis: a prefix for each cut."""

from tests.faults.test_kill_sweep import sweep
from tests.servers.redis import server


def swept(folder, how):
    sweep(folder, how, f"{server().url}?pool=2&prefix={how}_{{place}}")
