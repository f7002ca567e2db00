"""Stores behind a server stay open while the tests of a file run.

A new connection prepares every statement anew, which costs more than most tests do.
"""

from pathlib import Path

import pytest
import pytest_asyncio


def pytest_collection_modifyitems(items):
    """Connections belong to a loop, so tests that share them run in one."""
    for item in items:
        # Of this folder only: hooks see the tests of all folders.
        is_ours = item.path.parent == Path(__file__).parent
        if is_ours and "handles" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.asyncio(loop_scope="module"), append=False)


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def handles(make_store):
    """Two handles on the same data, as two processes would have them."""
    stores = [make_store() for _ in range(2)]
    for store in stores:
        await store.open()
    yield stores
    for store in stores:
        await store.close()


@pytest.fixture
def pair(handles):
    """The same connections, and nothing remembered of an earlier test's jobs."""
    for store in handles:
        store.cache.__init__()  # in place: the parts of a store share it
    return handles


@pytest.fixture
def another_store(store, pair):
    """A second process would come in by the same URL."""
    return pair[1]
