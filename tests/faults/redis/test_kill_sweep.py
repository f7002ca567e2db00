"""A process is stopped at every one of its writes to Redis; the long sweep adds the reads."""

from tests.faults.redis.sweeping import swept


def test_cut_at_every_write(tmp_path):
    swept(tmp_path, "brief")
