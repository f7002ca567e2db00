"""MongoDB behaves as memory does, whatever the calls and their order."""

import pytest

from tests.property.model.machine import StoreMachine, check_reach, thorough
from tests.servers.mongo import empty, server
from tickwell.stores.mongo import MongoStore


class MongoMachine(StoreMachine):
    def make_store(self):
        # What is durable after a power cut is another test's concern; waiting for disks is slow.
        url = server().url("model", journal="false")
        empty(url)
        return MongoStore.from_url(url)


TestMongo = pytest.mark.timeout(600)(thorough(MongoMachine, 80))


def test_the_machine_got_everywhere():
    check_reach(MongoMachine, brief=True)
