"""The proxy does what the fault tests believe of it."""

import asyncio
import gc
import socket
import socketserver
import threading
import time
import warnings

import pytest

from tests.proxy.listener import rounds, stop_listening
from tests.proxy.proxy import proxied

PATIENCE = 100.0


class Echo(socketserver.BaseRequestHandler):
    def handle(self):
        try:
            while data := self.request.recv(65536):
                self.request.sendall(data)
        except ConnectionResetError:
            pass


@pytest.fixture
def proxy():
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Echo) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        with proxied(server.server_address[1]) as made:
            yield made
        server.shutdown()
        thread.join()


@pytest.fixture
def client(proxy):
    with socket.create_connection(("127.0.0.1", proxy.port), PATIENCE) as made:
        yield made


def exchange(client, data):
    client.sendall(data)
    return receive(client, len(data))


def receive(client, count):
    found = b""
    while len(found) < count and (more := client.recv(count - len(found))):
        found += more
    return found


def test_bytes_pass_in_order(client):
    data = bytes(range(256)) * 2000
    assert exchange(client, data) == data


def test_an_end_is_passed_on(client):
    client.sendall(b"last")
    client.shutdown(socket.SHUT_WR)
    assert receive(client, 100) == b"last"


@pytest.mark.parametrize("way", ["up", "down"])
def test_latency(proxy, client, way):
    getattr(proxy, way).latency = 0.1
    began = time.monotonic()
    assert exchange(client, b"slow") == b"slow"
    assert time.monotonic() - began >= 0.1


@pytest.mark.parametrize("way", ["up", "down"])
def test_a_black_hole_swallows_nothing_for_good(proxy, client, way):
    proxy.stall(getattr(proxy, way))
    client.sendall(b"held")
    client.settimeout(0.1)
    with pytest.raises(TimeoutError):
        client.recv(1)
    client.settimeout(PATIENCE)
    proxy.heal()
    assert receive(client, 4) == b"held"


def test_a_forgotten_connection_is_silent_and_a_new_one_is_whole(proxy, client):
    assert exchange(client, b"first") == b"first"
    proxy.forget()
    client.sendall(b"second")
    with socket.create_connection(("127.0.0.1", proxy.port), PATIENCE) as another:
        assert exchange(another, b"new") == b"new"
    client.settimeout(0.1)
    with pytest.raises(TimeoutError):
        client.recv(1)


def test_a_cut_is_a_reset(proxy, client):
    assert exchange(client, b"first") == b"first"
    proxy.cut()
    with pytest.raises(ConnectionResetError):
        client.recv(1)


@pytest.mark.parametrize("way", ["up", "down"])
def test_a_reply_is_dropped_after_so_many_bytes(proxy, client, way):
    direction = getattr(proxy, way)
    direction.passing = 5
    assert exchange(client, b"12345") == b"12345"
    with pytest.raises(ConnectionResetError):
        exchange(client, b"6")
    assert direction.lost == 1
    with socket.create_connection(("127.0.0.1", proxy.port), PATIENCE) as another:
        assert exchange(another, b"again") == b"again"


def test_a_chosen_reply_is_dropped(proxy, client):
    proxy.down.loses = lambda data: data == b"no"
    assert exchange(client, b"yes") == b"yes"
    with pytest.raises(ConnectionResetError):
        exchange(client, b"no")


def test_a_server_that_is_away(proxy, client):
    proxy.target = 1
    # the reset may overtake the end of connecting
    with (
        pytest.raises(ConnectionResetError),
        socket.create_connection(("127.0.0.1", proxy.port), PATIENCE) as another,
    ):
        another.recv(1)


async def test_a_listener_that_closes_when_somebody_comes_leaves_no_socket():
    writers = []
    server = await asyncio.start_server(lambda _, writer: writers.append(writer), "127.0.0.1", 0)
    with socket.create_connection(server.sockets[0].getsockname()):
        await asyncio.sleep(0)  # the server is about to accept it
        await asyncio.sleep(0)  # and about to give it a transport
        await stop_listening(server)
        [writer] = writers
        writer.transport.abort()
        await rounds()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        gc.collect()
    assert warned == []
