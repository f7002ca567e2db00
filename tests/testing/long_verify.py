"""`tickwell store verify` on Redis, whole: the other stores stand for it in the short tests."""

import pytest

from tests.servers import redis_keys
from tests.testing.test_verify import TRIED, check_counts, results, verified


@pytest.mark.timeout(400)
def test_redis():
    redis_keys.empty("mine")
    verdict, _ = verified(redis_keys.url("mine"))
    check_counts(verdict)
    assert results(verdict) == [(*each, "ok") for each in TRIED]
    with redis_keys.client() as keys:
        assert [*keys.scan_iter("{tickwell_verify*"), *keys.scan_iter("{mine}*")] == []
