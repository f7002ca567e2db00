"""What may stand around an answer: old and odd framing is taken, a flood of it is not."""

import asyncio

import pytest

from tests.executors.http.conftest import a_claim
from tests.executors.http.receiver import answers, repeats, sends
from tickwell.domain.http import Http

OK = b"HTTP/1.1 200 OK\r\n"
CHUNKED = OK + b"Transfer-Encoding: chunked\r\n\r\n"
INTERIM = b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"
BLOCK = 65_536
#: Bytes that may lie in the buffers of two sockets on one machine, besides what was read.
ON_THE_WAY = 16 * 2**20


@pytest.mark.parametrize(
    ("start", "again"),
    [
        (b"", b"\r\n" * BLOCK),
        (b"", INTERIM * 1000),
        (CHUNKED + b"2;", b"y" * BLOCK),
        (CHUNKED, b"0" * BLOCK),
        (CHUNKED + b"2\r\nok\r\n0\r\n", b"X-Trailer: yyyyyyyyyyyyyyyyyyyy\r\n" * 1000),
        (CHUNKED + b"2\r\nok\r\n0\r\nX-Trailer: ", b"y" * BLOCK),
    ],
    ids=["blank lines", "interim answers", "extension", "size", "trailers", "1 trailer"],
)
async def test_what_is_around_an_answer_has_a_limit_too(send, start, again):
    outcome, receiver = await send(repeats(start, again))
    assert (outcome.kind, outcome.retry, outcome.result) == ("failed", True, None)
    assert "Traceback" not in outcome.error
    assert receiver.sent < ON_THE_WAY


async def test_a_flood_after_the_head_was_read_ends_as_well(send):
    async def drip(exchange):
        await exchange.send(CHUNKED + b"2\r\nok\r\n")
        await repeats(b"2;", b"y" * BLOCK)(exchange)

    outcome, _ = await send(drip)
    assert outcome.error == "the receiver sent more than 2 MiB besides its response"


async def test_each_answer_on_a_connection_is_counted_by_itself(executor, receive):
    body = b"x" * 60_000
    receiver = await receive(answers(body=body))
    for _ in range(50):
        outcome = await executor.run(a_claim(Http(receiver.url())))
        assert outcome.result["bytes"] == len(body)
    assert receiver.connections == 1


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.0 200 OK\r\n\r\nok",
        b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nok",
        b"HTTP/1.1 100 Continue\r\n\r\n" * 5 + OK + b"Content-Length: 2\r\n\r\nok",
        CHUNKED + b"1\r\no\r\n1;name=value\r\nk\r\n0\r\nX-Trailer: 1\r\n\r\n",
        OK + b"Set-Cookie: \xff=;;=\r\nLink: <<>>;;\r\nContent-Length: 2\r\n\r\nok",
    ],
    ids=["1.0 to the end", "1.0", "no reason", "interim", "trailers", "odd headers"],
)
async def test_old_and_odd_answers_are_taken(send, answer):
    outcome, _ = await send(sends(answer))
    assert (outcome.kind, outcome.result["body"]) == ("succeeded", "ok")


async def test_a_connection_of_http_1_0_is_not_used_again(executor, receive):
    receiver = await receive(answers())
    receiver.behaviour = sends(b"HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", then_close=False)
    for _ in range(2):
        assert (await executor.run(a_claim(Http(receiver.url())))).kind == "succeeded"
    assert receiver.connections == 2


async def test_an_error_of_the_parser_is_one_line(send):
    outcome, _ = await send(sends(OK + b"Content-Length: +2\r\n\r\nok"))
    assert outcome.error == "the answer is not HTTP: Invalid character in Content-Length"


@pytest.mark.parametrize("framing", ["Content-Length: 2", "Transfer-Encoding: chunked"])
@pytest.mark.parametrize("status", [204, 304])
async def test_a_body_where_none_belongs_answers_no_other_webhook(
    executor, receive, status, framing
):
    head = f"HTTP/1.1 {status} Some\r\n{framing}\r\n\r\n".encode()
    receiver = await receive(sends(head, then_close=False))  # its body is still on the way
    for connections in (1, 2):
        outcome = await executor.run(a_claim(Http(receiver.url())))
        assert (outcome.result["status"], receiver.connections) == (status, connections)


async def test_an_empty_answer_keeps_its_connection(executor, receive):
    receiver = await receive(answers(204, b""))
    for _ in range(3):
        assert (await executor.run(a_claim(Http(receiver.url())))).kind == "succeeded"
    assert receiver.connections == 1


async def test_what_comes_unasked_is_no_answer_to_the_next(make_executor, receive, monkeypatch):
    monkeypatch.setattr("tickwell.executors.http.client.client.KEEP_ALIVE", 1000.0)
    executor, released = make_executor(), asyncio.Event()

    async def answer_twice(exchange):
        await answers()(exchange)
        await released.wait()
        await answers(410)(exchange)

    receiver = await receive(answer_twice)
    assert (await executor.run(a_claim(Http(receiver.url())))).kind == "succeeded"
    released.set()
    await receiver.left()
    assert (await executor.run(a_claim(Http(receiver.url())))).kind == "succeeded"
    assert receiver.connections == 2


async def test_the_connection_used_last_is_used_first(executor, receive):
    """So what a burst has opened beyond that rests, and is closed soon after it."""
    come = asyncio.Event()

    async def together(exchange):
        if len(exchange.receiver.exchanges) == 3:
            come.set()
        await come.wait()
        await answers(body=b"ok")(exchange)

    receiver = await receive(together)
    await asyncio.gather(*(executor.run(a_claim(Http(receiver.url()))) for _ in range(3)))
    for _ in range(6):
        await executor.run(a_claim(Http(receiver.url())))
    ports = [one.writer.get_extra_info("peername")[1] for one in receiver.exchanges]
    assert len(set(ports[:3])) == 3
    assert len(set(ports[3:])) == 1


@pytest.mark.parametrize("method", ["GET", "PUT"])
async def test_a_webhook_on_a_broken_connection_is_not_sent_again(executor, receive, method):
    async def hang_up_on_the_second(exchange):
        if len(exchange.receiver.exchanges) == 2:
            exchange.writer.transport.abort()
        else:
            await answers()(exchange)

    receiver = await receive(hang_up_on_the_second)
    target = Http(receiver.url(), method=method)
    assert (await executor.run(a_claim(target))).kind == "succeeded"
    assert (await executor.run(a_claim(target))).kind == "failed"
    assert len(receiver.exchanges) == 2
