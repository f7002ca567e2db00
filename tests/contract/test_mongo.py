"""The MongoDB store keeps the contract, with two clients of one database."""

from typing import Any

import pytest
from pymongo import MongoClient

from tests.servers.mongo import empty, server
from tickwell.stores.mongo import MongoStore
from tickwell.testing.contract import StoreContract

# What is durable after a power cut is another test's concern; waiting for disks is slow.
OPTIONS = {"journal": "false"}


@pytest.fixture(scope="module")
def place():
    return server().url("contract", **OPTIONS)


@pytest.fixture(scope="module")
def make_store(place):
    return lambda: MongoStore.from_url(place)


@pytest.fixture
def store(pair, place):
    empty(place)
    return pair[0]


@pytest.fixture
def corrupt(place):
    def put(document, job):
        client: MongoClient[Any]
        with MongoClient(place) as client:
            jobs: Any = client.get_default_database()["jobs"]
            before = jobs.find_one_and_update({"_id": job.id}, {"$set": {"document": document}})
        return (before or {})["document"]

    async def corrupt(job):
        before = put('{"from": "a newer version"}', job)

        async def mend():
            put(before, job)

        return mend

    return corrupt


class TestMongo(StoreContract):
    pass
