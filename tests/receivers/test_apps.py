"""Receivers as part of an app, ASGI and WSGI."""

import asyncio
from io import BytesIO
from typing import Any

import pytest

from tickwell.clock import wall_millis
from tickwell.domain.http.signature import hmac_signature, read_key, signed_bytes
from tickwell.receivers import AsgiReceiver, MemorySeen, Verdict, WsgiReceiver

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"


def signed(body, id="msg_1", attempt=1):
    timestamp = wall_millis() // 1000
    signature = hmac_signature(read_key(SECRET), signed_bytes(id, timestamp, body))
    return {
        "webhook-id": id,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature,
        "tickwell-attempt": str(attempt),
    }


class Asgi:
    """An app under a receiver, and a way to call it."""

    def __init__(self, status=204, **options):
        self.status = status
        self.took: list = []
        self.receiver = AsgiReceiver(self._app, SECRET, **options)

    async def _app(self, scope, receive, send):
        message = await receive()
        self.took.append((scope["tickwell"], message["body"]))
        assert (await receive())["type"] == "http.disconnect"
        if isinstance(self.status, Exception):
            raise self.status
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def call(self, body=b"{}", headers=None):
        parts = [body[:1], body[1:]]
        sent = []

        async def receive():
            if not parts:
                return {"type": "http.disconnect"}
            part = parts.pop(0)
            return {"type": "http.request", "body": part, "more_body": bool(parts)}

        async def send(message):
            sent.append(message)

        given = signed(body) if headers is None else headers
        raw = [(name.encode(), value.encode()) for name, value in given.items()]
        await self.receiver({"type": "http", "headers": raw}, receive, send)
        return sent[0]["status"]


class Wsgi:
    def __init__(self, status=204, **options):
        self.status = status
        self.took: list = []
        self.receiver = WsgiReceiver(self._app, SECRET, **options)

    def _app(self, environ, start_response):
        self.took.append((environ["tickwell"], environ["wsgi.input"].read()))
        if isinstance(self.status, Exception):
            raise self.status
        start_response(f"{self.status} Some", [])
        return [b"a", b"b"]

    async def call(self, body=b"{}", headers=None):
        given = signed(body) if headers is None else headers
        environ = {"CONTENT_LENGTH": str(len(body)), "wsgi.input": BytesIO(body)}
        environ |= {f"HTTP_{name.upper().replace('-', '_')}": text for name, text in given.items()}
        statuses = []
        parts = self.receiver(environ, lambda status, headers: statuses.append(int(status[:3])))
        list(parts)
        if hasattr(parts, "close"):
            parts.close()
            parts.close()
        return statuses[0]


BOTH = pytest.mark.parametrize("kind", [Asgi, Wsgi])


@BOTH
async def test_the_app_is_called_once_for_each_webhook(kind):
    app = kind()
    assert await app.call() == 204
    assert await app.call() == 200
    assert await app.call(headers=signed(b"{}", attempt=2)) == 200
    assert await app.call(headers=signed(b"{}", id="msg_2")) == 204
    assert [delivery.id for delivery, _ in app.took] == ["msg_1", "msg_2"]
    assert app.took[0][1] == b"{}"


@BOTH
async def test_an_app_that_did_not_take_it_is_called_again(kind):
    app = kind(status=503)
    assert await app.call() == 503
    app.status = ValueError("no")
    with pytest.raises(ValueError, match="no"):
        await app.call()
    app.status = 200
    assert await app.call() == 200
    assert len(app.took) == 3


@BOTH
async def test_the_app_is_not_called_by_strangers(kind):
    app = kind()
    assert await app.call(headers={}) == 401
    assert await app.call(body=b"[]", headers=signed(b"{}")) == 401
    assert app.took == []


@BOTH
async def test_the_app_is_not_called_for_what_is_stale_or_under_way(kind):
    seen = MemorySeen()
    app = kind(seen=seen, status=503)
    await app.call(headers=signed(b"{}", attempt=3))
    assert await app.call(headers=signed(b"{}", attempt=2)) == 409
    app.status = 204
    busy = signed(b"{}", id="busy")
    from tickwell.receivers import verify

    seen.begin(verify(b"{}", busy, SECRET))
    assert await app.call(headers=busy) == 425


@BOTH
async def test_a_body_that_is_too_large_is_refused(kind):
    app = kind(largest_body=10)
    assert await app.call(body=b"x" * 11) == 413
    assert await app.call(body=b"x" * 10) == 204


@pytest.mark.parametrize("length", ["²", "9" * 5000, "-1", "two"])
async def test_a_length_that_is_none_is_refused(length):
    statuses: list[str] = []
    environ = {"CONTENT_LENGTH": length, "wsgi.input": BytesIO(b"{}")}
    list(Wsgi().receiver(environ, lambda status, headers: statuses.append(status[:3])))
    assert statuses == ["413"]


async def test_a_wsgi_answer_that_is_not_sent_took_no_effect():
    app = Wsgi()
    body = b"{}"
    environ = {"CONTENT_LENGTH": "2", "wsgi.input": BytesIO(body)}
    environ |= {
        f"HTTP_{name.upper().replace('-', '_')}": text for name, text in signed(body).items()
    }
    parts: Any = app.receiver(environ, lambda *_: None)
    parts.close()
    assert await app.call() == 204
    assert len(app.took) == 2


async def test_an_asgi_answer_that_breaks_off_took_no_effect():
    seen, calls = MemorySeen(), []

    async def app(scope, receive, send):
        calls.append(scope["tickwell"].id)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"a", "more_body": len(calls) == 1})

    asgi = Asgi(seen=seen)
    asgi.receiver.app = app
    assert [await asgi.call(headers=signed(b"{}", attempt=n)) for n in (1, 2, 3)] == [200] * 3
    assert calls == ["msg_1"] * 2


async def test_an_asgi_app_hears_of_a_disconnect_when_there_is_one():
    gone, heard = asyncio.Event(), []

    async def app(scope, receive, send):
        await receive()
        waiting = asyncio.create_task(receive())
        await asyncio.sleep(0)
        heard.append(waiting.done())
        gone.set()
        heard.append((await waiting)["type"])

    messages = [{"type": "http.request", "body": b"{}"}]

    async def receive():
        if messages:
            return messages.pop()
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message):
        raise AssertionError(message)

    raw = [(name.encode(), value.encode()) for name, value in signed(b"{}").items()]
    await AsgiReceiver(app, SECRET)({"type": "http", "headers": raw}, receive, send)
    assert heard == [False, "http.disconnect"]


async def test_a_memory_may_be_asked_over_a_network():
    asked = []

    class Remote:
        async def begin(self, delivery):
            asked.append("begin")
            return Verdict.NEW

        async def end(self, delivery, *, done):
            asked.append(done)

    app = Asgi(seen=Remote())
    assert await app.call() == 204
    assert asked == ["begin", True]


@BOTH
async def test_a_memory_that_is_empty_is_used_all_the_same(kind):
    class Counted(MemorySeen):
        def __len__(self):
            return 0

    seen = Counted()
    await kind(seen=seen).call()
    assert await kind(seen=seen).call() == 200


async def test_what_is_no_request_goes_through():
    seen = []

    async def app(scope, receive, send):
        seen.append(scope["type"])

    nobody: Any = None
    await AsgiReceiver(app, SECRET)({"type": "lifespan"}, nobody, nobody)
    assert seen == ["lifespan"]
