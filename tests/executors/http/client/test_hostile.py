"""Receivers that mean harm, or know no better: W1 to W4 of the proofs."""

import asyncio
import gzip
import tracemalloc

import pytest

from tests.executors.http.conftest import Names, a_claim
from tests.executors.http.receiver import answers, hang, repeats, sends, told
from tickwell.domain.http import Http
from tickwell.domain.policy import Delivery

#: Bytes that may lie in the buffers of two sockets on one machine, besides what was read.
ON_THE_WAY = 16 * 2**20
#: Bytes by which memory may grow, however much is sent.
GROWTH = 8 * 2**20

CHUNK = b"x" * 65_536
BOMB = gzip.compress(bytes(10_000_000))
OK = b"HTTP/1.1 200 OK\r\n"


def ended_in_words(outcome):
    assert outcome.error
    outcome.error.encode()
    assert "Traceback" not in outcome.error


@pytest.fixture
def memory():
    """How much more was allocated at the worst moment than before."""
    tracemalloc.start()
    before = tracemalloc.get_traced_memory()[0]
    tracemalloc.reset_peak()
    yield lambda: tracemalloc.get_traced_memory()[1] - before
    tracemalloc.stop()


# W1: accepts, and never answers


async def test_a_receiver_that_hangs_times_out(send):
    outcome, receiver = await send(hang, timeout="1s")
    assert (outcome.kind, outcome.retry) == ("timed_out", True)
    assert "within 1 s" in outcome.error
    assert receiver.connections == 1


async def test_a_cancelled_attempt_ends_at_once_and_gives_its_place_back(make_executor, receive):
    executor = make_executor(per_host=1)
    receiver = await receive(hang)
    running = asyncio.create_task(executor.run(a_claim(Http(receiver.url()))))
    waiting = asyncio.create_task(executor.run(a_claim(Http(receiver.url()))))
    await receiver.received(1)
    waiting.cancel()
    running.cancel()
    results = await asyncio.gather(running, waiting, return_exceptions=True)
    assert [type(result) for result in results] == [asyncio.CancelledError] * 2
    receiver.behaviour = answers()
    assert (await executor.run(a_claim(Http(receiver.url())))).kind == "succeeded"


async def test_other_hosts_go_on_while_one_hangs(make_executor, receive):
    executor = make_executor(
        per_host=3, resolver=Names(hangs_test=["127.0.0.1"], works_test=["127.0.0.1"])
    )
    stuck, fine = await receive(hang), await receive()
    to_stuck = Http(stuck.url(host="hangs.test"), timeout="1h")
    hanging = [asyncio.create_task(executor.run(a_claim(to_stuck))) for _ in range(10)]
    await stuck.received(3)
    outcomes = [await executor.run(a_claim(Http(fine.url(host="works.test")))) for _ in range(10)]
    assert {outcome.kind for outcome in outcomes} == {"succeeded"}
    # Those that found no place are put off, without a charge, and without ever dialling.
    put_off, under_way = await asyncio.wait(hanging, return_when="FIRST_COMPLETED")
    while len(under_way) > 3:
        done, under_way = await asyncio.wait(under_way, return_when="FIRST_COMPLETED")
        put_off |= done
    assert {task.result().kind for task in put_off} == {"snoozed"}
    assert all(1000 <= task.result().delay <= 1500 for task in put_off)
    assert (stuck.connections, len(under_way)) == (3, 3)
    # One that comes while nobody moves is put off at once; one that may not be, waits.
    assert (await executor.run(a_claim(to_stuck, returned=3))).delay >= 8000
    patient = [
        asyncio.create_task(executor.run(a_claim(to_stuck, returned=10))),
        asyncio.create_task(
            executor.run(a_claim(to_stuck, policies={"delivery": Delivery.AT_MOST_ONCE}))
        ),
    ]
    stuck.behaviour = answers()
    for task in under_way:
        task.cancel()
    assert {outcome.kind for outcome in await asyncio.gather(*patient)} == {"succeeded"}


async def test_another_project_goes_on_at_a_host_where_one_hangs(make_executor, receive):
    executor, receiver = make_executor(per_host=3), await receive(hang)
    target = Http(receiver.url(), timeout="1h")
    hanging = [asyncio.create_task(executor.run(a_claim(target))) for _ in range(3)]
    await receiver.received(3)
    receiver.behaviour = answers()
    other = {"project": "other"}
    outcomes = [await executor.run(a_claim(target, policies=other)) for _ in range(10)]
    assert {outcome.kind for outcome in outcomes} == {"succeeded"}
    for task in hanging:
        task.cancel()


async def test_a_burst_to_one_host_waits_its_turn(make_executor, receive, monkeypatch):
    monkeypatch.setattr("tickwell.executors.http.client.host_limit.PATIENCE", 600)
    executor, receiver = make_executor(per_host=4), await receive()
    target = Http(receiver.url())
    outcomes = await asyncio.gather(*(executor.run(a_claim(target)) for _ in range(200)))
    assert {outcome.kind for outcome in outcomes} == {"succeeded"}
    assert receiver.connections <= 4


async def test_a_receiver_that_does_not_read_times_out(executor, receive):
    receiver = await receive(hang, rash=True)
    target = Http(receiver.url(), timeout="300ms")
    outcome = await executor.run(a_claim(target, ["x" * 1000] * 5_000))
    assert (outcome.kind, outcome.retry) == ("timed_out", True)


# W2: a byte now and then


@pytest.mark.parametrize(
    ("start", "again"),
    [
        (b"HTTP/1.1 200 ", b"x"),
        (OK + b"X-Slow: ", b"x"),
        (OK + b"Content-Length: 1000000\r\n\r\n", b"x"),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\nx\r\n"),
    ],
    ids=["status line", "headers", "body", "chunks"],
)
async def test_the_deadline_is_for_the_whole_and_not_for_each_byte(send, start, again):
    outcome, _ = await send(repeats(start, again, pause=0.02), timeout="300ms")
    assert (outcome.kind, outcome.retry) == ("timed_out", True)


# W3: more than anybody wants


@pytest.mark.parametrize(
    ("start", "again"),
    [
        (OK + b"\r\n", CHUNK),
        (OK + b"Content-Length: 10000000000\r\n\r\n", CHUNK),
        (OK + b"Transfer-Encoding: chunked\r\n\r\n", b"10000\r\n" + CHUNK + b"\r\n"),
        (OK + b"Content-Encoding: gzip\r\n\r\n", BOMB),
    ],
    ids=["endless", "10 GB", "endless chunks", "endless gzip"],
)
async def test_a_body_without_end_is_read_up_to_the_limit(send, memory, start, again):
    outcome, receiver = await send(repeats(start, again))
    assert (outcome.kind, outcome.result["bytes"]) == ("succeeded", 65_536)
    assert outcome.result["cut"] is True
    assert receiver.sent < ON_THE_WAY
    assert memory() < GROWTH


async def test_a_bomb_is_not_unpacked(send, memory):
    outcome, _ = await send(
        answers(body=BOMB, headers=["Content-Encoding: gzip", "Content-Type: application/json"])
    )
    assert outcome.result["body"] == f"({len(BOMB)} bytes, compressed)"
    assert memory() < GROWTH


@pytest.mark.parametrize(
    "head",
    [
        OK + b"".join(b"X-%d: y\r\n" % number for number in range(100_000)),
        OK + b"X: " + b"y" * 1_000_000 + b"\r\n",
        b"HTTP/1.1 200 " + b"y" * 1_000_000 + b"\r\n",
        OK + b"y" * 1_000_000 + b": x\r\n",
    ],
    ids=["100,000 headers", "1 MB value", "1 MB reason", "1 MB name"],
)
async def test_a_head_without_end_is_refused(send, memory, head):
    outcome, _ = await send(sends(head + b"\r\n"))
    assert (outcome.kind, outcome.retry) == ("failed", True)
    ended_in_words(outcome)
    assert memory() < GROWTH + 3 * len(head)  # the receiver is in this process too


# W4: not what was agreed


@pytest.mark.parametrize(
    "garbage",
    [
        b"",
        b"\x00\x01\x02\xff\xfe" * 100,
        b"hello, I am a mail server\r\n",
        b"<html>HTTP/0.9</html>",
        b"HTTP/1.1\r\n\r\n",
        b"HTTP/1.1 abc OK\r\n\r\n",
        b"HTTP/1.1 99999 OK\r\n\r\n",
        b"HTTP/9.9 200 OK\r\nContent-Length: 0\r\n\r\n",
        OK + b"no colon here\r\n\r\n",
        OK + b"X: a\x00b\r\n\r\n",
        OK + b"Content-Length: 2\r\nContent-Length: 3\r\n\r\nok",
        OK + b"Content-Length: -1\r\n\r\nok",
        OK + b"Content-Length: two\r\n\r\nok",
        OK + b"Content-Length: 100\r\n\r\nshort",
        OK + b"Content-Length: 10\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\nzz\r\nxx\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\nxx\r\n",
        OK + b"Transfer-Encoding: chunked\r\n\r\n5\r\nhel",
        OK + b"Transfer-Encoding: chunked\r\n\r\n2\r\nokok\r\n0\r\n\r\n",
        OK[:10],
        b"HTTP/1.1 103 Early Hints\r\n\r\n",
    ],
)
async def test_garbage_is_a_failed_attempt_in_words(send, garbage):
    outcome, _ = await send(sends(garbage))
    assert (outcome.kind, outcome.retry) == ("failed", True), outcome
    ended_in_words(outcome)


@pytest.mark.parametrize(
    ("bytes_sent", "status"),
    [
        (b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", 101),
        (b"HTTP/1.1 600 Odd\r\nContent-Length: 0\r\n\r\n", 600),
        (b"HTTP/1.1 999 \xff\xfe\r\nContent-Length: 0\r\n\r\n", 999),
    ],
)
async def test_an_odd_status_is_a_failed_attempt(send, bytes_sent, status):
    outcome, _ = await send(sends(bytes_sent))
    assert (outcome.kind, outcome.retry) == ("failed", True)
    ended_in_words(outcome)


async def test_what_follows_an_answer_is_not_taken_for_the_next(executor, receive):
    """Two answers to one request: the second must not answer somebody else's."""
    two = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
    forged = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nforged"
    receiver = await receive(sends(two + forged, then_close=False))
    target = Http(receiver.url(), timeout="300ms")
    outcomes = [await executor.run(a_claim(target)) for _ in range(3)]
    assert all(
        told(outcome) in ({}, {"status": 200, "body": "ok", "bytes": 2}) for outcome in outcomes
    )


async def test_a_port_where_nobody_listens_is_a_failed_attempt(executor, receive):
    receiver = await receive()
    await receiver.__aexit__()
    outcome = await executor.run(a_claim(Http(receiver.url())))
    assert (outcome.kind, outcome.retry) == ("failed", True)
    assert "cannot be reached" in outcome.error


async def test_a_client_that_met_all_this_still_works(executor, receive):
    for behaviour in (hang, sends(b"\x00"), repeats(OK + b"\r\n", CHUNK), sends(b"")):
        receiver = await receive(behaviour)
        await executor.run(a_claim(Http(receiver.url(), timeout="200ms")))
    receiver = await receive()
    assert (await executor.run(a_claim(Http(receiver.url())))).kind == "succeeded"
