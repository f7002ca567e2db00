"""The base of every topic of the contract."""

from __future__ import annotations

import pytest

from tickwell.ports.store import Store
from tickwell.testing.contract.scene import Scene


class Topic:
    """Tests about one part of the protocol. Test files provide the three fixtures.

    `store`: opened and empty. `another_store`: a second handle on the same data, as another
    process would have it; a store that lives in one process gives the same object. `corrupt`: an
    async function that makes the stored definition of a job unreadable, and answers with one that
    makes it readable again.
    """

    pytestmark = pytest.mark.asyncio

    @pytest.fixture
    def scene(self, store: Store) -> Scene:
        """The store, with helpers for tests."""
        return Scene(store)

    @pytest.fixture
    def other(self, another_store: Store) -> Scene:
        """The same data through the other handle."""
        return Scene(another_store)
