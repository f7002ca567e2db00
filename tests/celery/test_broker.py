"""The connection that hints are sent over."""

import threading

import pytest
import redis as driver

from tests.servers import redis
from tickwell.brokers import celery
from tickwell.brokers.celery import CeleryBroker
from tickwell.errors import BrokerUnavailable

DATABASE = 13


async def test_a_call_that_was_given_up_leaves_the_next_connection_alone(monkeypatch):
    url = redis.server().url.rpartition("/")[0] + f"/{DATABASE}"
    broker, go, threads = CeleryBroker(url), threading.Event(), []

    def hang(_):
        threads.append(threading.current_thread())
        go.wait()
        raise OSError("at last")

    monkeypatch.setattr(celery, "LONGEST", 0.5)
    with pytest.raises(BrokerUnavailable, match=r"did not answer for 0\.5 s"):
        await broker._call(hang)
    monkeypatch.undo()
    await broker.depths(["default"])
    connected = connections(url)
    assert connected
    go.set()
    for thread in threads:
        thread.join()
    assert connections(url) == connected
    broker.close()


def connections(url):
    """The ids of those who are connected to the database of this test."""
    with driver.Redis.from_url(url) as client:
        mine = client.client_id()
        return {
            each["id"]
            for each in client.client_list()
            if each["db"] == str(DATABASE) and each["id"] != str(mine)
        }


@pytest.mark.parametrize("end", ["abc", "0?password=secret", "0?unknown=1"])
async def test_a_url_that_the_transport_cannot_read_is_said_in_a_sentence(end):
    broker = CeleryBroker(f"redis://:secret@127.0.0.1:1/{end}")
    try:
        with pytest.raises(BrokerUnavailable, match="correct `broker`") as raised:
            await broker.depths(["default"])
        assert "secret" not in str(raised.value)
    finally:
        broker.close()
