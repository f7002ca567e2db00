"""The MongoDB store keeps the contract, with two clients of one database."""

from typing import Any

import pytest
from pymongo import MongoClient

from tests.servers.mongo import empty, server
from tickwell.stores.mongo import MongoStore
from tickwell.testing.contract import StoreContract

# What is durable after a power cut is another test's concern; waiting for disks is slow.
OPTIONS = {"journal": "false"}


@pytest.fixture
def place():
    return server().url("contract", **OPTIONS)


@pytest.fixture
async def store(place):
    empty(place)
    store = MongoStore.from_url(place)
    await store.open()
    yield store
    await store.close()


@pytest.fixture
async def another_store(store, place):
    """A second process would come in by the same URL."""
    other = MongoStore.from_url(place)
    await other.open()
    yield other
    await other.close()


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
