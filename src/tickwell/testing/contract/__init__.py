"""The contract of a store, as tests that any store can be held to.

A test file is a fixture and a class:

    @pytest.fixture
    async def store():
        store = MyStore(...)
        await store.open()
        yield store  # empty
        await store.close()

    @pytest.fixture
    async def another_store(store): ...  # a second handle on the same data

    @pytest.fixture
    def corrupt(store):
        async def corrupt(job): ...  # no handle can read its definition from now on
            return mend  # an async function that undoes it
        return corrupt

    class TestMyStore(StoreContract):
        pass

Needs pytest and pytest-asyncio.
"""

from __future__ import annotations

import pytest

pytest.register_assert_rewrite(f"{__name__}.topics")

from tickwell.testing.contract.snapshot import snapshot  # noqa: E402
from tickwell.testing.contract.topics import TOPICS  # noqa: E402 - a failing assertion shows why

__all__ = ["TOPICS", "StoreContract", "snapshot"]


class StoreContract(*TOPICS):  # type: ignore[misc]  # the topics are known, but not to the checker
    """All topics in one class."""
