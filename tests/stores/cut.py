"""What stores do whose connections were cut."""

import asyncio

from tickwell.errors import StoreUnavailable


async def until_connected(store):
    """Until a call meets no connection any more that was cut."""
    async with asyncio.timeout(100):
        while await _is_cut(store):  # noqa: ASYNC110 - only a call finds out
            await asyncio.sleep(0.01)


async def _is_cut(store):
    try:
        assert len(await store.list_workers()) == 0
    except StoreUnavailable:
        return True
    return False
