"""`tickwell store verify`, whole, on the servers that the short tests leave out.

Beside the data of somebody who uses the same database: of those nothing is touched.
"""

import asyncio

import pytest

from tests.servers import mariadb_tables, mongo, redis_keys, schemas
from tests.testing.test_verify import TRIED, check_counts, results, verified
from tickwell.domain.trigger import OnDemand
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene
from tickwell.testing.contract.snapshot import snapshot
from tickwell.wiring import make_store


def on_redis():
    redis_keys.empty("mine")
    return redis_keys.url("mine")


def left_on_redis():
    with redis_keys.client() as keys:
        return [*keys.scan_iter("{tickwell_verify*")]


def on_mysql():
    asyncio.run(mariadb_tables.empty("mine_"))
    return mariadb_tables.url("mine_")


def left_on_mysql():
    return asyncio.run(mariadb_tables.tables("tickwell_verify"))


def on_mongo():
    url = mongo.server().url("mine", journal="false")
    mongo.empty(url)
    return url


def left_on_mongo():
    with mongo.server().client() as client:
        return [name for name in client.list_database_names() if name.startswith("tickwell_verify")]


def on_postgres():
    schemas.empty_now("mine")
    return schemas.url("mine")


def left_on_postgres():
    names = "SELECT nspname FROM pg_namespace WHERE nspname LIKE 'tickwell_verify%'"
    return asyncio.run(schemas.run(names))


async def fill(url):
    """Somebody's work: jobs at rest, due, and under way."""
    store = make_store(url)
    await store.open()
    scene = Scene(store)
    await scene.job("timed")
    job = await scene.job("busy", trigger=OnDemand())
    await scene.run(*(a_request(job, T0) for _ in range(9)))
    await scene.fire(minute(1))
    await scene.succeed((await scene.claim(minute(1), limit=6))[:3], minute(1))
    await store.close()


async def look(url):
    store = make_store(url)
    await store.open()
    seen = await snapshot(store, minute(1))
    await store.close()
    return seen


@pytest.mark.timeout(400)
@pytest.mark.parametrize(
    ("place", "left"),
    [
        (on_postgres, left_on_postgres),
        (on_redis, left_on_redis),
        (on_mysql, left_on_mysql),
        (on_mongo, left_on_mongo),
    ],
)
def test_a_server_that_is_used(place, left):
    url = place()
    asyncio.run(fill(url))
    before = asyncio.run(look(url))
    verdict, err = verified(url)
    check_counts(verdict)
    assert results(verdict) == [(*each, "ok") for each in TRIED]
    assert "secret" not in err
    assert asyncio.run(look(url)) == before
    assert left() == []
