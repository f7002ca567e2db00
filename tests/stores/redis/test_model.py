"""Redis behaves as memory does, whatever the calls and their order."""

import pytest
from hypothesis import settings

from tests.property.model.machine import StoreMachine, check_reach, thorough
from tests.servers.redis_keys import empty, url
from tickwell.stores.redis import RedisStore

PREFIX = "model"


class RedisMachine(StoreMachine):
    def make_store(self):
        empty(PREFIX)
        return RedisStore.from_url(url(PREFIX) + "&pool=1")


TestRedis = pytest.mark.timeout(600)(thorough(RedisMachine))
# A step makes some sixty round trips: half the runs of the other stores take as long as theirs.
TestRedis.settings = settings(TestRedis.settings, max_examples=100)


def test_the_machine_got_everywhere():
    check_reach(RedisMachine)
