"""The kill sweep on MongoDB: a database for each cut."""

from tests.faults.test_kill_sweep import sweep
from tests.servers.mongo import server


def swept(folder, how):
    sweep(folder, how, server().url(f"{how}_{{place}}"))
