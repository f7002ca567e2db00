"""Behind a transaction-mode pooler nothing of ours may stay on a connection."""

import asyncpg
import pytest

from tests.servers.schemas import empty, url
from tickwell.domain.execution import State
from tickwell.domain.trigger import OnDemand
from tickwell.errors import StoreRefused, StoreUnavailable
from tickwell.stores.postgres import PostgresStore
from tickwell.stores.postgres.errors import translate
from tickwell.testing.contract.builders import T0, a_request, minute
from tickwell.testing.contract.scene import Scene


@pytest.fixture
async def store():
    await empty("stores")
    store = PostgresStore.from_url(url("stores") + "&pooler=transaction&pool=2")
    await store.open()
    yield store
    await store.close()


async def leftovers(store):
    """What our calls left on the connections: settings, statements, channels and locks."""

    async def work(session):
        return [
            await session.connection.fetchval(query)
            for query in (
                "SELECT count(*) FROM pg_prepared_statements WHERE NOT from_sql",
                # The driver sets jit back to what it was, which counts as set.
                "SELECT count(*) FROM pg_settings WHERE source = 'session' AND name <> 'jit'",
                "SELECT count(*) FROM pg_listening_channels()",
                "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'",
            )
        ]

    return await store.database._repeat(work)


async def test_everything_works_and_nothing_stays(store):
    scene = Scene(store)
    fired, asked = await scene.job(), await scene.job(trigger=OnDemand())
    await scene.run(a_request(asked, T0))
    await scene.fire(minute(1))
    await scene.promote(minute(1))
    claims = await scene.claim(minute(1))
    assert len(claims) == 2
    await scene.succeed(claims, minute(1))
    assert await scene.states(fired) == [State.SUCCEEDED]
    await store.prune(minute(1), 10)
    assert await leftovers(store) == [0, 0, 0, 0]


async def test_timeouts_hold_in_every_transaction(store):
    async def work(session):
        return await session.connection.fetchval("SHOW lock_timeout")

    assert await store.database.write_one(work) == "10s"
    assert await store.database.read(work) == "10s"


async def test_a_pooler_is_recognised_by_what_it_refuses(monkeypatch):
    real = asyncpg.create_pool

    async def create_pool(**options):
        if "server_settings" in options:
            raise asyncpg.ProtocolViolationError("unsupported startup parameter: lock_timeout")
        return await real(**options)

    monkeypatch.setattr(asyncpg, "create_pool", create_pool)
    store = PostgresStore.from_url(url("stores"))
    await store.open()
    assert store.database.is_pooled
    assert await store.ping() > 0
    await store.close()


@pytest.mark.parametrize(
    ("said", "kind", "words"),
    [
        ("password authentication failed", StoreRefused, "does not accept the password"),
        ("SASL authentication failed", StoreRefused, "does not accept the password"),
        ("no such database: jobs", StoreRefused, "has no such database"),
        ('database "jobs" does not exist', StoreRefused, "has no such database"),
        ("no more connections allowed (max_client_conn)", StoreUnavailable, "max_client_conn"),
        ("query_wait_timeout", StoreUnavailable, "does not answer (query_wait_timeout)"),
    ],
)
def test_what_a_pooler_says_under_one_code_is_told_apart(said, kind, words):
    error = translate(asyncpg.ProtocolViolationError(said), "postgresql://h/d")
    assert type(error) is kind
    assert words in str(error)
