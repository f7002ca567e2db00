"""The memory store keeps its own contract."""

from dataclasses import replace

import pytest

from tickwell.stores.memory import MemoryStore
from tickwell.testing.contract import StoreContract


@pytest.fixture
async def store():
    store = MemoryStore()
    await store.open()
    yield store
    await store.close()


@pytest.fixture
def another_store(store):
    """Nothing outside the process can reach it, so a second handle is the same one."""
    return store


class Broken:
    """A definition as a store would find it that cannot make a job of it."""

    def __init__(self, job):
        self._job = job

    def __getattr__(self, name):
        if name == "trigger":
            raise ValueError("a trigger of a newer version")
        return getattr(self._job, name)


@pytest.fixture
def corrupt(store):
    async def corrupt(job):
        def put(definition):
            store.tables.jobs[job.id] = replace(store.tables.jobs[job.id], job=definition)

        async def mend():
            put(job)

        put(Broken(job))
        return mend

    return corrupt


class TestMemory(StoreContract):
    pass
