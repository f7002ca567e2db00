"""A database that is dropped under a running process is not set up again by its heartbeat."""

from typing import Any

import pytest
from pymongo import MongoClient

from tests.servers import mongo, schemas
from tickwell.clock import StoreClock
from tickwell.domain.event import Events
from tickwell.errors import StoreRefused
from tickwell.executors.handlers import Handlers
from tickwell.settings import Settings
from tickwell.wiring import make_engine, make_store


async def drop_schema(_url):
    await schemas.run("DROP SCHEMA emptied CASCADE")


async def drop_database(url):
    client: MongoClient[Any]
    with MongoClient(url) as client:
        client.drop_database("emptied")


@pytest.mark.parametrize(
    ("url", "drop"),
    [
        (lambda: schemas.url("emptied"), drop_schema),
        (lambda: mongo.server().url("emptied", journal="false"), drop_database),
    ],
    ids=["postgresql", "mongodb"],
)
async def test_the_heartbeat_makes_nothing(url, drop):
    place = url()
    store = make_store(place)
    await store.open()
    settings = Settings(store=place)
    engine = make_engine(store, Handlers(), StoreClock(), settings, events=Events())
    await drop(place)
    assert engine.pulse_thread is not None
    late = engine.pulse_thread.open_store()
    for _ in range(2):  # nor by its first try
        with pytest.raises(StoreRefused, match="no Tickwell store in"):
            await late.open()
    await late.close()
    await store.close()
