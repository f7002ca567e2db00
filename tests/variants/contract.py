"""One test of the store contract on PostgreSQL, run in this process."""

import inspect

from tests.servers.schemas import empty, url
from tickwell.stores.postgres import PostgresStore
from tickwell.testing.contract import StoreContract
from tickwell.testing.contract.scene import Scene

SCHEMA = "variants"


async def keeps_contract(name):
    """Raise what the test raises."""
    await empty(SCHEMA)
    stores = [PostgresStore.from_url(url(SCHEMA)) for _ in range(2)]
    for store in stores:
        await store.open()
    try:
        scenes = dict(zip(("scene", "other"), map(Scene, stores), strict=True))
        test = getattr(StoreContract(), name)
        wanted = inspect.signature(test).parameters
        await test(**{each: scenes[each] for each in wanted})
    finally:
        for store in stores:
            await store.close()
