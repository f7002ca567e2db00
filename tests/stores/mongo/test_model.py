"""MongoDB behaves as memory does, whatever the calls and their order."""

import pytest

from tests.property.model import draws
from tests.property.model.machine import StoreMachine, thorough
from tests.servers.mongo import empty, server
from tickwell.domain.gate import Concurrency
from tickwell.stores.mongo import MongoStore


def job(id, now, fields):
    """One limit for each key.

    Where limits differ, who passes depends on who left before: elsewhere those that end in one
    step leave one after the other, here all have left when the gate is looked at. Either is right.
    """
    given = fields["concurrency"]
    if given is not None:
        fields = fields | {"concurrency": Concurrency(given.key, 2)}
    return draws.job(id, now, fields)


class MongoMachine(StoreMachine):
    job = staticmethod(job)

    def make_store(self):
        # What is durable after a power cut is another test's concern; waiting for disks is slow.
        url = server().url("model", journal="false")
        empty(url)
        return MongoStore.from_url(url)


TestMongo = pytest.mark.timeout(600)(thorough(MongoMachine, 12))
