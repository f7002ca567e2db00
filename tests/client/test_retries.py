"""What is sent again, what is not, and what is said in the end; against a server that fails."""

import asyncio
import socket
from typing import Any

import pytest
from aiohttp import web

from tickwell.client import AsyncClient
from tickwell.errors import (
    Conflict,
    InvalidSetting,
    LimitReached,
    StoreUnavailable,
    TickwellError,
    Unauthenticated,
)

PROBLEM = "application/problem+json"
GOOD: dict[str, Any] = {"items": [], "next_cursor": None}


def problem(status, kind, **headers):
    body = {"type": f"urn:tickwell:problem:{kind}", "detail": f"{kind} it is", "status": status}
    return status, body, PROBLEM, {name.replace("_", "-"): value for name, value in headers.items()}


OK: tuple[Any, ...] = (200, GOOD, "application/json", {})
BUSY = problem(503, "store-unavailable")
#: The connection ends without an answer.
CUT = None


class Failing:
    """Answers by a script; remembers what it was asked."""

    client: AsyncClient

    def __init__(self):
        self.script = []
        self.asked = []

    async def handle(self, request):
        self.asked.append((request.method, request.path, request.headers.get("Idempotency-Key")))
        step = self.script.pop(0)
        if step is CUT:
            request.transport.close()
            raise asyncio.CancelledError
        status, body, kind, headers = step
        return web.json_response(body, status=status, content_type=kind, headers=headers)


@pytest.fixture
async def failing():
    failing = Failing()
    application = web.Application()
    application.router.add_route("*", "/{any:.*}", failing.handle)
    runner = web.AppRunner(application)
    await runner.setup()
    sock = socket.socket()
    sock.bind(("127.0.0.1", 0))
    await web.SockSite(runner, sock).start()
    async with AsyncClient(f"http://127.0.0.1:{sock.getsockname()[1]}/prefix") as client:
        failing.client = client
        yield failing
    await runner.cleanup()


@pytest.mark.parametrize("failure", [BUSY, CUT, problem(429, "limit-reached", retry_after="0")])
async def test_a_read_is_repeated(failing, failure):
    failing.script = [failure, failure, OK]
    assert await failing.client.list_jobs() == GOOD
    assert [path for _, path, _ in failing.asked] == ["/prefix/api/v1/jobs"] * 3


async def test_a_post_is_repeated_with_one_key(failing):
    failing.script = [CUT, problem(409, "in-flight", retry_after="0"), OK]
    await failing.client.trigger_job("x")
    keys = [key for _, _, key in failing.asked]
    assert len(keys) == 3
    assert len(set(keys)) == 1
    assert len(keys[0]) == 36


@pytest.mark.parametrize(
    "call",
    [
        lambda client: client.create_key("ci", "viewer"),
        lambda client: client.delete_job("x"),
        lambda client: client.patch_job("x", {}, version=3),
    ],
)
@pytest.mark.parametrize("failure", [CUT, BUSY])
async def test_what_may_have_been_done_is_not_done_again(failing, call, failure):
    failing.script = [failure, OK]
    with pytest.raises(StoreUnavailable):
        await call(failing.client)
    assert len(failing.asked) == 1
    assert failing.asked[0][2] is None


async def test_what_was_refused_at_the_door_is_sent_again(failing):
    failing.script = [problem(429, "limit-reached", retry_after="0"), OK]
    assert await failing.client.delete_job("x") == GOOD


async def test_patience_has_an_end(failing):
    failing.script = [BUSY] * 9
    with pytest.raises(StoreUnavailable, match="store-unavailable it is"):
        await failing.client.list_jobs()
    assert len(failing.asked) == 4


@pytest.mark.parametrize(("headers", "seconds"), [({"retry_after": "3600"}, 3600), ({}, None)])
async def test_a_limit_that_waiting_does_not_help_is_told_at_once(failing, headers, seconds):
    failing.script = [problem(429, "limit-reached", **headers), OK]
    with pytest.raises(LimitReached) as reached:
        await failing.client.list_jobs()
    assert reached.value.retry_after == seconds
    assert len(failing.asked) == 1


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        ((502, "<html>", "text/html", {}), StoreUnavailable, "answered 502"),
        ((302, "", "text/html", {"Location": "/login"}), TickwellError, "answered 302"),
        ((200, "hello", "text/html", {}), TickwellError, "answered 200"),
        ((401, "", "text/plain", {}), Unauthenticated, "answered 401"),
        (problem(500, "internal"), TickwellError, "internal it is"),
        (problem(412, "precondition-failed"), Conflict, "precondition-failed it is"),
    ],
)
async def test_an_answer_of_somebody_else_is_an_error_too(failing, answer, error, words):
    failing.script = [answer] * 4
    with pytest.raises(error, match=words):
        await failing.client.list_jobs()


async def test_a_service_that_is_ill_says_how_it_is(failing):
    body = {"status": "unhealthy", "service": "scheduler"}
    failing.script = [(503, body, "application/json", {})]
    assert await failing.client.health() == body


async def test_nobody_there():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free.getsockname()[1]}"
        async with AsyncClient(url, retries=1) as client:
            with pytest.raises(StoreUnavailable, match="cannot be reached"):
                await client.create_key("ci", "viewer")


async def test_nobody_answers():
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        async with AsyncClient(url, retries=0, timeout="200ms") as client:
            with pytest.raises(StoreUnavailable, match=r"no answer in 0\.2 s"):
                await client.list_jobs()


@pytest.mark.parametrize(
    "url",
    ["", "jobs.example.com", "ftp://x", "https://", "http://u:p@h", "http://h?a", "http://h:x"],
)
def test_an_address_that_cannot_be(url):
    with pytest.raises(InvalidSetting):
        AsyncClient(url)


def test_a_key_that_would_break_out_of_its_header():
    with pytest.raises(InvalidSetting) as refused:
        AsyncClient("http://h", key="tw_secret\r\nX: y")
    assert "secret" not in str(refused.value)
