"""Behind a real pooler in transaction mode: it is found out, and every promise holds."""

import pytest

from tests.servers.pgbouncer import pooler
from tests.testing.test_verify import TRIED, check_counts, results, verified
from tickwell.stores.postgres import PostgresStore


async def test_it_is_found_out():
    store = PostgresStore.from_url(f"{pooler()}?schema=pooled")
    await store.open()
    assert store.database.is_pooled
    assert await store.ping() > 0
    await store.close()


@pytest.mark.timeout(400)
def test_every_promise_holds():
    verdict, _ = verified(pooler())
    check_counts(verdict)
    assert results(verdict) == [(*each, "ok") for each in TRIED]
