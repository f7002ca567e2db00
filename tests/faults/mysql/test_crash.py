"""The server is killed under load, and comes back with all that it has acknowledged."""

from tests.faults.redis.test_crash import test_a_server_that_dies_under_load as crash


def test_a_server_that_dies_under_load(site, processes, server):
    crash(site, processes, server)
