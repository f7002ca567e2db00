"""Redis behaves as memory does, whatever the calls and their order."""

import pytest

from tests.property.model.machine import BRIEF, StoreMachine, thorough
from tests.servers.redis_keys import client, empty, url
from tests.stores.redis.invariants import contradictions
from tickwell.stores.redis import RedisStore

PREFIX = "model"


class RedisMachine(StoreMachine):
    def make_store(self):
        empty(PREFIX)
        return RedisStore.from_url(url(PREFIX) + "&pool=1")

    def teardown(self):
        super().teardown()
        with client() as keys:
            assert contradictions(keys, PREFIX) == []


TestRedis = pytest.mark.timeout(600)(thorough(RedisMachine, 2 * BRIEF))
