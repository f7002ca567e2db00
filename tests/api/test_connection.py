"""What a stranger's connection may cost: bytes, time and places, on a real listener."""

import asyncio
import contextlib
import json
import socket
from typing import Any

import pytest

from tickwell.api import server
from tickwell.api.http import connection

HEAD = b"GET / HTTP/1.1\r\nHost: x\r\n"
CHUNKED = b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"
MORE_THAN_ENOUGH = 4 * connection.MOST_HEAD


class Echo:
    """Reads a body and says how long it was, once it may; notices a client that leaves."""

    def __init__(self):
        self.asked, self.left, self.may_answer = (asyncio.Event() for _ in range(3))
        self.may_answer.set()
        self.reads = True

    async def __call__(self, scope, receive, send):
        size, more = 0, self.reads
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                self.left.set()
                return
            size, more = size + len(message["body"]), message["more_body"]
        self.names = [name for name, _ in scope["headers"]]
        self.asked.set()
        await self.may_answer.wait()
        headers = [(b"content-length", b"%d" % len(str(size)))]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": str(size).encode()})


@pytest.fixture
async def listener():
    """Starts a server when asked; the application, and a way to connect."""
    async with contextlib.AsyncExitStack() as stack:

        async def start(leaving=None):
            sock = stack.enter_context(socket.socket())
            sock.bind(("127.0.0.1", 0))
            sock.listen()
            echo, address = Echo(), sock.getsockname()
            task = asyncio.create_task(server.serve(echo, sock, leaving=leaving))
            stack.push_async_callback(asyncio.wait, [task])
            stack.callback(task.cancel)

            async def connect(sent=b""):
                reader, writer = await asyncio.open_connection(*address)
                stack.callback(writer.close)
                writer.write(sent)
                return reader, writer

            return echo, connect

        yield start


async def answer(connect, sent):
    """All that comes back until the connection ends."""
    reader, _ = await connect(sent)
    return await reader.read()


async def status(connect, sent):
    return int((await answer(connect, sent)).split()[1])


async def send_until_refused(connect, part, before=HEAD):
    """Bytes that could be sent, and what came back."""
    reader, writer = await connect(before)
    sent = 0
    with contextlib.suppress(ConnectionError):
        while sent < MORE_THAN_ENOUGH and not reader.at_eof():
            writer.write(part)
            await writer.drain()
            sent += len(part)
            await asyncio.sleep(0)
    said = b""
    with contextlib.suppress(ConnectionError):
        said = await reader.read()
    return sent, said


@pytest.mark.parametrize("part", [b"a: b\r\n" * 100, b"a" * 600], ids=["headers", "one header"])
async def test_a_head_without_end_is_refused(listener, part):
    _, connect = await listener()
    sent, said = await send_until_refused(connect, part)
    assert sent < MORE_THAN_ENOUGH
    assert said.startswith(b"HTTP/1.1 431 ") or not said  # a reset may overtake the answer


@pytest.mark.parametrize("part", [b"a: b\r\n" * 100, b"a" * 600], ids=["headers", "one header"])
@pytest.mark.parametrize("body", [b"0\r\n", b"1;"], ids=["trailers", "extension"])
async def test_what_follows_a_body_has_an_end_too(listener, body, part):
    _, connect = await listener()
    sent, said = await send_until_refused(connect, part, CHUNKED + b"2\r\n{}\r\n" + body)
    assert sent < MORE_THAN_ENOUGH
    assert not said.startswith(b"HTTP/1.1 200 ")


async def test_a_header_behind_the_body_is_none(listener):
    echo, connect = await listener()
    trailers = b"Authorization: Bearer x\r\nX-Forwarded-For: 192.0.2.1\r\n\r\n"
    reader, _ = await connect(CHUNKED + b"2\r\n{}\r\n0\r\n" + trailers)
    assert (await reader.readline()).startswith(b"HTTP/1.1 200 ")
    assert echo.names == [b"host", b"transfer-encoding"]


async def test_a_large_body_in_small_and_large_parts(listener):
    _, connect = await listener()
    close = CHUNKED.replace(b"\r\n\r\n", b"\r\nconnection: close\r\n\r\n")
    parts = b"1\r\na\r\n" * 30_000 + b"80000\r\n" + b"a" * 0x80000 + b"\r\n0\r\n\r\n"
    said = await answer(connect, close + parts)
    assert said.endswith(b"%d" % (30_000 + 0x80000))


async def test_heads_within_bounds_only(listener):
    _, connect = await listener()
    end = b"connection: close\r\n\r\n"
    most = connection.MOST_HEADERS - 2
    assert await status(connect, HEAD + b"a: b\r\n" * most + end) == 200
    assert await status(connect, HEAD + b"a: b\r\n" * (most + 1) + end) == 431
    longest = b"a" * (connection.LONGEST_HEADER - 1)
    assert await status(connect, HEAD + b"a: " + longest + b"\r\n" + end) == 200
    assert await status(connect, HEAD + b"a: " + longest + b"a\r\n" + end) == 431


async def test_what_cannot_be_read_is_a_problem_as_any_other(listener):
    _, connect = await listener()
    head, _, body = (await answer(connect, b"nonsense\r\n\r\n")).partition(b"\r\n\r\n")
    assert b"content-type: application/problem+json\r\n" in head
    problem = json.loads(body)
    assert (problem["type"], problem["status"]) == ("urn:tickwell:problem:bad-request", 400)


async def test_one_host_is_named(listener):
    _, connect = await listener()
    close = b"connection: close\r\n\r\n"
    assert await status(connect, HEAD + close) == 200
    assert await status(connect, HEAD + b"Host: y\r\n" + close) == 400
    assert await status(connect, b"GET / HTTP/1.1\r\n" + close) == 400
    assert await status(connect, b"GET / HTTP/1.0\r\n\r\n") == 200


async def test_a_request_has_to_arrive_in_time(listener, monkeypatch):
    monkeypatch.setattr(connection, "PATIENCE", 0.3)
    echo, connect = await listener()
    assert await status(connect, b"") == 408
    assert await status(connect, HEAD + b"a: b") == 408
    length = b"content-length: 9\r\n\r\n"
    assert await answer(connect, b"POST / HTTP/1.1\r\nHost: x\r\n" + length + b"1234") == b""
    await echo.left.wait()


@pytest.mark.parametrize("more", [b"\r\n", b"\r\n\r\n", b"G"])
async def test_after_an_answer_too(listener, monkeypatch, more):
    monkeypatch.setattr(connection, "PATIENCE", 0.3)
    _, connect = await listener()
    reader, writer = await connect(HEAD + b"\r\n")
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
    assert await reader.readexactly(1) == b"0"
    writer.write(more)
    assert (await reader.read()).startswith(b"HTTP/1.1 408 ")


async def test_a_body_that_comes_after_its_answer_is_no_reason_to_wait(listener, monkeypatch):
    monkeypatch.setattr(connection, "PATIENCE", 0.3)
    echo, connect = await listener()
    echo.reads = False
    reader, writer = await connect(b"POST / HTTP/1.1\r\nHost: x\r\ncontent-length: 2\r\n\r\n")
    assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
    assert await reader.readexactly(1) == b"0"
    writer.write(b"{}")
    assert (await reader.read()).startswith(b"HTTP/1.1 408 ")


async def test_blank_lines_between_requests_cost_the_next_none_of_its_time(listener, monkeypatch):
    clocks: asyncio.Queue[Any] = asyncio.Queue()
    take = connection.Connection.data_received

    def note(self, data):
        take(self, data)
        clocks.put_nowait(self.patience)

    monkeypatch.setattr(connection.Connection, "data_received", note)
    _, connect = await listener()
    reader, writer = await connect(HEAD + b"\r\n")
    await reader.readuntil(b"\r\n\r\n0")
    assert await clocks.get() is None
    found = []
    for part in (b"\r\n", b"\r\n", HEAD, b"a: b\r\n"):
        writer.write(part)
        found.append(await clocks.get())
    first, same, second, still = found
    assert first is same
    assert first.cancelled()
    assert second is still
    assert not second.cancelled()


async def test_our_own_time_is_not_the_client_s(listener, monkeypatch):
    monkeypatch.setattr(connection, "PATIENCE", 0.5)
    echo, connect = await listener()
    echo.may_answer.clear()
    asyncio.get_running_loop().call_later(1.0, echo.may_answer.set)
    assert await status(connect, HEAD + b"connection: close\r\n\r\n") == 200


async def test_a_body_does_not_wait_for_word_about_its_head(listener, monkeypatch):
    made, begin = [], connection.Connection.connection_made

    def note(self, transport):
        begin(self, transport)
        sock = transport.get_extra_info("socket")
        made.append(bool(sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)))

    monkeypatch.setattr(connection.Connection, "connection_made", note)
    _, connect = await listener()
    assert await status(connect, HEAD + b"connection: close\r\n\r\n") == 200
    assert made == [True]


async def test_a_client_that_asks_again_is_answered_again(listener):
    _, connect = await listener()
    reader, writer = await connect()
    for number in range(3):
        body = b"x" * 10**number
        head = b"POST / HTTP/1.1\r\nHost: x\r\ncontent-length: %d\r\n\r\n" % len(body)
        for part in (head[:9], head[9:], body):
            writer.write(part)
            await asyncio.sleep(0)
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"HTTP/1.1 200 ")
        said = str(len(body)).encode()
        assert await reader.readexactly(len(said)) == said


async def test_who_is_being_answered_when_we_leave_gets_an_answer(listener, monkeypatch):
    monkeypatch.setattr(server, "GOODBYE", 60)
    leaving = asyncio.Event()
    echo, connect = await listener(leaving)
    echo.may_answer.clear()
    reader, _ = await connect(HEAD + b"\r\n")
    await echo.asked.wait()
    leaving.set()
    with contextlib.suppress(ConnectionError):  # until nobody new is let in
        while True:
            await (await connect())[0].read()
    echo.may_answer.set()
    said = await reader.read()
    assert said.startswith(b"HTTP/1.1 200 ")
    assert b"connection: close" in said


async def test_a_cancelled_server_ends_its_connections():
    echo = Echo()
    echo.may_answer.clear()
    with socket.socket() as sock:
        sock.bind(("127.0.0.1", 0))
        sock.listen()
        address = sock.getsockname()
        task = asyncio.create_task(server.serve(echo, sock))
        reader, writer = await asyncio.open_connection(*address)
        writer.write(HEAD + b"\r\n")
        await echo.asked.wait()
        task.cancel()
        await asyncio.wait([task])
        with contextlib.suppress(ConnectionError):
            await reader.read()
        assert reader.at_eof() or reader.exception()
        echo.may_answer.set()
        writer.close()


async def test_several_requests_at_once_are_answered_in_turn(listener):
    _, connect = await listener()
    asked = (HEAD + b"\r\n") * 4 + HEAD + b"connection: close\r\n\r\n"
    assert (await answer(connect, asked)).count(b"HTTP/1.1 200 ") == 5


async def test_many_that_only_wait_keep_nobody_out(listener, monkeypatch):
    monkeypatch.setattr(server, "most_connections", lambda: 4)
    _, connect = await listener()
    waiting = [await connect(HEAD) for _ in range(12)]
    assert await status(connect, HEAD + b"connection: close\r\n\r\n") == 200
    with contextlib.suppress(ConnectionError):
        assert await waiting[0][0].read() == b""  # the first made room


async def test_where_all_are_being_answered_one_more_is_told_to_come_back(listener, monkeypatch):
    monkeypatch.setattr(server, "most_connections", lambda: 2)
    echo, connect = await listener()
    echo.may_answer.clear()
    reader, _ = await connect(HEAD + b"connection: close\r\n\r\n")
    await echo.asked.wait()
    head, _, body = (await answer(connect, HEAD + b"\r\n")).partition(b"\r\n\r\n")
    assert b"\r\nretry-after: 2" in head
    assert json.loads(body)["type"] == "urn:tickwell:problem:service-unavailable"
    echo.may_answer.set()
    assert (await reader.read()).startswith(b"HTTP/1.1 200 ")


async def test_half_of_the_files_are_left_to_others(monkeypatch):
    for soft, most in ((1024, 512), (10**6, server.MOST), (-1, server.MOST), (0, 2)):
        monkeypatch.setattr(server, "getrlimit", lambda _, soft=soft: (soft, soft))
        assert server.most_connections() == most
