"""The memory store keeps its own contract."""

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


class TestMemory(StoreContract):
    pass
