"""The connection that hints are sent over."""

import asyncio
import socket
import ssl
import threading
import time
from contextlib import suppress

import pytest
import redis as driver
import trustme

from tests.servers import redis
from tickwell.brokers import celery
from tickwell.brokers.celery import CeleryBroker, make_celery
from tickwell.errors import BrokerUnavailable
from tickwell.executors.celery.client import Client

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


def as_dispatcher(url):
    broker = CeleryBroker(url)
    try:
        asyncio.run(broker.depths(["default"]))
    finally:
        broker.close()


def as_celery_worker(url):
    with make_celery(url).connection_for_read() as connection:
        connection.ensure_connection(max_retries=1, interval_start=0)


def as_sender_of_tasks(url):
    client = Client(url, "", time.monotonic)
    try:
        client.check()
    finally:
        client.close()


FORGED, LET_IN = "certificate verify failed", "closed|reset|EOF"


@pytest.mark.parametrize(
    ("connect", "host", "says"),
    [
        (as_dispatcher, "another.example", FORGED),
        (as_celery_worker, "another.example", FORGED),
        (as_sender_of_tasks, "another.example", FORGED),
        (as_sender_of_tasks, "localhost", LET_IN),
    ],
)
def test_only_the_host_of_the_url_is_taken_for_the_broker(
    connect, host, says, monkeypatch, tmp_path
):
    authority, heard = trustme.CA(), []
    authority.cert_pem.write_to_path(tmp_path / "authority.pem")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(host).configure_cert(context)

    def serve():
        while True:
            try:
                taken, _ = listening.accept()
            except OSError:
                return
            with suppress(OSError), context.wrap_socket(taken, server_side=True) as connection:
                heard.append(connection.recv(4))  # and then it hangs up

    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = threading.Thread(target=serve)
        server.start()
        try:
            with pytest.raises(Exception, match=says):
                connect(f"amqps://ann:hush@localhost:{listening.getsockname()[1]}//")
        finally:
            listening.shutdown(socket.SHUT_RDWR)
            server.join()
    assert (b"AMQP" in heard) is (says is LET_IN)
