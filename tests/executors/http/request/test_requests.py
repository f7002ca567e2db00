"""What goes out."""

import asyncio
import json

import pytest

from tests.executors.http.conftest import CONTEXT, a_claim
from tests.executors.http.receiver import told
from tickwell.domain.http import Http, Json
from tickwell.ids import trace_id

BODY_METHODS = ["POST", "PUT", "PATCH"]


@pytest.mark.parametrize("method", BODY_METHODS)
async def test_the_payload_is_sent_as_json_without_a_body(send, method):
    outcome, receiver = await send(method=method, payload={"a": "ü"})
    assert receiver.last.line == f"{method} / HTTP/1.1"
    assert receiver.last.body == '{"a":"ü"}'.encode()
    assert receiver.last.headers["content-type"] == "application/json"
    assert told(outcome) == {"status": 200, "body": "ok", "bytes": 2}


@pytest.mark.parametrize("method", ["GET", "DELETE"])
async def test_no_payload_goes_where_none_is_expected(send, method):
    _, receiver = await send(method=method, payload={"a": 1})
    assert receiver.last.body == b""
    assert "content-type" not in receiver.last.headers


async def test_a_large_payload_arrives_whole(send):
    _, receiver = await send(payload=["x" * 1000] * 1_000)
    assert receiver.last.headers["content-length"] == str(len(receiver.last.body))
    assert len(json.loads(receiver.last.body)) == 1_000


async def test_no_payload_is_no_body(send):
    _, receiver = await send()
    assert receiver.last.body == b""
    assert receiver.last.headers["content-length"] == "0"


@pytest.mark.parametrize(
    ("body", "sent", "kind"),
    [
        ({"n": 1, "l": [None, True]}, b'{"n":1,"l":[null,true]}', "application/json"),
        ("a text", b"a text", "text/plain; charset=utf-8"),
        (Json("a text"), b'"a text"', "application/json"),
        (Json(None), b"null", "application/json"),
    ],
)
async def test_a_body_of_its_own_wins_over_the_payload(send, body, sent, kind):
    _, receiver = await send(body=body, payload={"not": "sent"})
    assert (receiver.last.body, receiver.last.headers["content-type"]) == (sent, kind)


async def test_the_target_may_say_the_type(send):
    _, receiver = await send(body="<a/>", headers={"content-TYPE": "application/xml"})
    assert receiver.last.headers["content-type"] == "application/xml"


async def test_names_are_replaced_everywhere_but_in_the_host(send):
    _, receiver = await send(
        path="/jobs/{{ job_name }}/{{payload.id}}?try={{attempt}}",
        query={"at": "{{fire_time}}", "q": "a&b={{payload.text}}"},
        headers={"X-Id": "<{{execution_id}}>"},
        body="{{project}}: {{payload.text}} {{payload.items.1.n}} {{payload.items}}",
        payload={"id": "a/b?#ü", "text": 'q"&=', "items": [1, {"n": 2.5}]},
        claim={"attempt": 7, "id": "e-1"},
    )
    assert receiver.last.line == (
        "POST /jobs/daily%20report/a%2Fb%3F%23%C3%BC?try=7"
        "&at=2025-11-15T20%3A53%3A20.123Z&q=a%26b%3Dq%22%26%3D HTTP/1.1"
    )
    assert receiver.last.headers["x-id"] == "<e-1>"
    assert receiver.last.body == b'default: q"&= 2.5 [1, {"n": 2.5}]'


async def test_values_keep_their_type_in_json_and_never_become_structure(send):
    _, receiver = await send(
        body={
            "count": "{{payload.count}}",
            "all": "{{payload}}",
            "text": "n={{payload.count}} {{payload.evil}}",
            "{{attempt}}": ["{{payload.evil}}"],
        },
        payload={"count": 3, "evil": '","admin":true,"x":"{{attempt}}'},
    )
    evil = '","admin":true,"x":"{{attempt}}'
    assert json.loads(receiver.last.body) == {
        "count": 3,
        "all": {"count": 3, "evil": evil},
        "text": f"n=3 {evil}",
        "{{attempt}}": [evil],
    }


@pytest.mark.parametrize(
    ("fields", "payload", "says"),
    [
        ({"body": "{{payload.missing}}"}, {"a": 1}, "no field 'missing'"),
        ({"body": "{{payload.a.b}}"}, {"a": 1}, "no field 'a.b'"),
        ({"body": "{{payload.9}}"}, [1], "no field '9'"),
        ({"body": "{{payload.a}}"}, None, "no field 'a'"),
        ({"body": {"x": ["{{payload.a}}"] * 1200}}, {"a": "x" * 1000}, "more than 1048576"),
        ({"body": "{{payload.a}}" * 1200}, {"a": "x" * 1000}, "more than 1048576"),
        ({"body": {"x": ["{{payload}}"] * 1200}}, ["x" * 1000], "more than 1048576"),
        ({"body": "{{payload.a}}"}, {"a": "\ud800"}, "unpaired surrogate"),
        ({"path": "/{{payload.a}}/x"}, {"a": ".."}, "puts `.` or `..` into the path"),
        ({"path": "/.{{payload.a}}/x"}, {"a": "."}, "puts `.` or `..` into the path"),
        ({"path": "/?{{payload.a}}"}, {"a": "x" * 9000}, "longer than 8192"),
        ({"headers": {"X": "{{secret.none}}"}}, None, "no secret 'none'"),
    ],
)
async def test_what_cannot_be_rendered_is_not_sent_and_not_tried_again(send, fields, payload, says):
    outcome, receiver = await send(payload=payload, **fields)
    assert says in outcome.error
    assert (outcome.kind, outcome.retry) == ("failed", False)
    assert receiver.connections == 0


async def test_every_request_says_what_it_is(send):
    _, receiver = await send(claim={"attempt": 3})
    headers = receiver.last.headers
    id = headers["webhook-id"]
    assert headers["idempotency-key"] == id
    assert headers["tickwell-attempt"] == "3"
    assert headers["tickwell-fire-time"] == "2025-11-15T20:53:20.123Z"
    assert headers["tickwell-job"].startswith("0197c0de-0000-7000")
    assert headers["user-agent"].startswith("Tickwell/")
    assert headers["accept-encoding"] == "identity"
    assert headers["webhook-timestamp"].isdigit()
    assert "webhook-signature" not in headers
    version, trace, span, flags = headers["traceparent"].split("-")
    assert (version, trace, len(span), flags) == ("00", trace_id(id), 16, "01")
    assert "cookie" not in headers
    assert "authorization" not in headers


async def test_attempts_share_the_trace_and_the_id_but_not_the_span(executor, receive):
    receiver = await receive()
    target = Http(receiver.url())
    for attempt in (1, 2):
        await executor.run(a_claim(target, id="same", attempt=attempt))
    first, second = (exchange.headers for exchange in receiver.exchanges)
    assert first["webhook-id"] == second["webhook-id"] == "same"
    assert first["traceparent"].split("-")[1] == second["traceparent"].split("-")[1]
    spans = [headers["traceparent"].split("-")[2] for headers in (first, second)]
    assert [span[:4] for span in spans] == ["0001", "0002"]
    assert spans[0][4:] == spans[1][4:]


async def test_a_target_may_bring_its_own_key_and_trace(send):
    own = {"idempotency-key": "mine", "Traceparent": "theirs", "User-Agent": "me"}
    _, receiver = await send(headers=own)
    for name, value in own.items():
        assert receiver.last.headers[name.lower()] == value
        assert receiver.last.head.lower().count(name.lower().encode() + b":") == 1


async def test_connections_are_kept(executor, receive):
    receiver = await receive()
    for _ in range(5):
        assert (await executor.run(a_claim(Http(receiver.url())))).kind == "succeeded"
    assert (receiver.connections, len(receiver.exchanges)) == (1, 5)


async def test_cookies_are_not(executor, receive):
    from tests.executors.http.receiver import answers

    receiver = await receive(answers(headers=["Set-Cookie: a=b"]))
    for _ in range(2):
        await executor.run(a_claim(Http(receiver.url())))
    assert "cookie" not in receiver.last.headers


async def test_a_proxy_of_the_environment_is_not_used(send, receive, monkeypatch, tmp_path):
    proxy = await receive()
    for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, proxy.url())
    netrc = tmp_path / "netrc"
    netrc.write_text("machine 127.0.0.1 login a password b")
    monkeypatch.setenv("NETRC", str(netrc))
    _, receiver = await send()
    assert (proxy.connections, receiver.connections) == (0, 1)
    assert "authorization" not in receiver.last.headers


@pytest.mark.parametrize("method", ["GET", "PUT", "DELETE"])
async def test_a_request_is_sent_once_in_an_attempt(executor, receive, method):
    """A kept connection that breaks under a request: the next attempt may repeat it, not we."""

    async def answers_once_then_hangs_up(exchange):
        if len(exchange.receiver.exchanges) == 1:
            await exchange.send(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        else:
            exchange.writer.close()

    receiver = await receive(answers_once_then_hangs_up)
    target = Http(receiver.url(), method=method, timeout="100s")
    first, second = [await executor.run(a_claim(target)) for _ in range(2)]
    assert (first.kind, second.kind) == ("succeeded", "failed")
    assert len(receiver.exchanges) == 2


async def test_the_client_is_loaded_once_before_the_instant(make_executor, receive):
    made, receiver = [], await receive()

    def make_context():
        made.append(1)
        return CONTEXT

    executor = make_executor(make_context=make_context)
    claim = a_claim(Http(receiver.url()))
    executor.prepare(claim.job)
    executor.prepare(claim.job)
    await executor._loading
    assert (await executor.run(claim)).kind == "succeeded"
    assert made == [1]


async def test_a_client_that_nobody_waits_for_any_longer_is_not_opened(make_executor):
    executor = make_executor()
    executor.prepare(a_claim(Http("http://127.0.0.1:1/")).job)
    await executor.close()
    with pytest.raises(asyncio.CancelledError):
        await executor._loading
    assert executor._client is None
