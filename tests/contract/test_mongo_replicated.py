"""The same on a replica set, for what concerns several processes, ends and repetitions."""

import pytest

from tests.contract import test_mongo
from tests.servers.mongo import replica
from tickwell.testing.contract.topics.concurrency import Concurrency
from tickwell.testing.contract.topics.editing import Changing
from tickwell.testing.contract.topics.finishing import Finishing
from tickwell.testing.contract.topics.leftovers import Leftovers
from tickwell.testing.contract.topics.repetition import Repetition

make_store, store, corrupt = test_mongo.make_store, test_mongo.store, test_mongo.corrupt


@pytest.fixture(scope="module")
def place():
    return replica().url("contract", replicaSet="rs0", journal="false")


class TestReplicated(Concurrency, Repetition, Finishing, Leftovers, Changing):
    pass
