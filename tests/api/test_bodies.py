"""Bad bodies: refused with a sentence, never with 500, and nothing is changed."""

import json

import pytest

from tests.api.conftest import HOOK
from tests.api.serving import Serving
from tickwell.errors import InvalidInput, TickwellError
from tickwell.web import json_pointer
from tickwell.web.bodies import parsed, plainly

JOB = {"name": "report", "trigger": {"on_demand": True}, "target": HOOK}


@pytest.fixture(scope="module")
def serving():
    with Serving() as serving:
        yield serving


def body(text):
    """A job with this payload."""
    return json.dumps(JOB)[:-1].encode() + b', "payload": ' + text + b"}"


@pytest.mark.parametrize(
    ("payload", "status", "pointer"),
    [
        (b"[" * 100_000 + b"]" * 100_000, 422, ""),
        (b"[" * 40 + b"]" * 40, 422, None),
        (b"[" * 500 + b"]" * 500, 422, None),
        (b"NaN", 400, None),
        (b"-Infinity", 400, None),
        (b"1e999", 422, "/payload"),
        (b"1" * 5000, 400, None),
        (b"9223372036854775808", 422, "/payload"),
        (b'"\\ud800"', 422, "/payload"),
        (b'{"\\udfff": 1}', 422, None),
        (b'{"a": 1, "a": 2}', 422, "/payload/a"),
        (b'[{"x.y": {"a/b": 1, "a/b": 2}}]', 422, "/payload/0/x.y/a~1b"),
        (b'"\\u0000"', 422, "/payload"),
        (b'"' + b"x" * 70_000 + b'"', 422, "/payload"),
        (b"{" + b",".join(b'"%d":1' % n for n in range(1001)) + b"}", 422, "/payload"),
        (b"\xff", 400, None),
        (b"nonsense", 400, None),
        (b"", 400, None),
    ],
)
async def test_what_is_not_good_json_is_refused(http, payload, status, pointer):
    answer = await http.post(
        "/jobs", content=body(payload), headers={"content-type": "application/json"}
    )
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    problem = answer.json()
    assert problem["request_id"] == answer.headers["x-request-id"]
    if pointer is not None:
        assert problem["errors"][0]["pointer"] == pointer
    assert (await http.get("/jobs")).json()["items"] == []


async def test_a_body_that_says_it_is_too_large_is_not_read(http):
    async def never():
        raise AssertionError("it was read")
        yield b""

    headers = {"content-length": str(100 * 1024 * 1024), "content-type": "application/json"}
    answer = await http.post("/jobs", content=never(), headers=headers)
    assert answer.status_code == 413


async def test_a_body_without_a_length_is_read_up_to_the_bound(http):
    read = []

    async def chunks():
        for _ in range(1600):
            read.append(64 * 1024)
            yield b" " * 64 * 1024

    answer = await http.post(
        "/jobs", content=chunks(), headers={"content-type": "application/json"}
    )
    assert answer.status_code == 413
    assert sum(read) <= 512 * 1024


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "nonsense"])
async def test_other_types_are_refused(http, kind):
    answer = await http.post("/jobs", content=json.dumps(JOB), headers={"content-type": kind})
    assert answer.status_code == 415


@pytest.mark.parametrize("document", [[], "x", 1, True, {"name": 1}, {"jobs": []}])
async def test_other_shapes_are_refused(http, document):
    for path in ("/jobs", "/jobs/batch", "/bulk/pause", "/dead-letters/revive"):
        answer = await http.post(path, json=document)
        assert answer.status_code == 422, (path, answer.text)


def test_bounds_are_seen_before_all_is_read():
    with pytest.raises(TickwellError):
        parsed(b"[" * 1_000_000)
    with pytest.raises(InvalidInput, match="nested"):
        parsed(b"[" * 33 + b"]" * 33)
    assert parsed(b"[" * 32 + b"]" * 32)
    assert parsed('{"ä": [1.5, true, null, "😀"]}'.encode()) == {"ä": [1.5, True, None, "😀"]}


async def test_paths_and_methods_that_are_not_there(http):
    for method, path, status in (
        ("GET", "/nothing", 404),
        ("DELETE", "/jobs", 405),
        ("GET", "/jobs/no%00body", 404),
        ("GET", "/jobs/%ff%fe", 404),
        ("GET", "/executions/not-an-id", 404),
        ("GET", "/jobs/" + "x" * 5000, 404),
        ("POST", "/executions/not-an-id/cancel", 404),
        ("GET", "/executions?since=yesterday", 422),
        ("GET", "/executions?cursor=AAAA", 422),
        ("GET", "/jobs?limit=0", 422),
        ("GET", "/jobs?search=%00", 422),
        ("GET", "/dead-letters/revivals/none", 404),
    ):
        answer = await http.request(method, path)
        assert answer.status_code == status, (path, answer.text)
        assert answer.headers["content-type"] == "application/problem+json"
        assert answer.json()["status"] == status


async def test_a_parameter_is_named_and_not_its_place(http):
    for query, parameter, detail in (
        ("state=odd", "state", "unknown value"),
        ("nope=1", "nope", "unknown parameter"),
    ):
        (error,) = (await http.get(f"/executions?{query}")).json()["errors"]
        assert (error["parameter"], error["in"]) == (parameter, "query")
        assert error["detail"].startswith(detail)


@pytest.mark.parametrize(
    ("request_line", "headers", "parameter", "where"),
    [
        ("GET /jobs?cursor=AAAA", {}, "cursor", "query"),
        ("GET /jobs?search=%00", {}, "search", "query"),
        ("GET /executions?since=yesterday", {}, "since", "query"),
        ("GET /cron/preview?expr=0 25 * * *", {}, "expr", "query"),
        ("GET /cron/preview?expr=0 2 * * *&tz=Nowhere", {}, "tz", "query"),
        ("POST /jobs/report/pause", {"idempotency-key": ""}, "Idempotency-Key", "header"),
        ("PUT /secrets/a%20b", {}, "name", "path"),
    ],
)
async def test_what_is_no_part_of_the_body_has_no_pointer_into_it(
    serving, request_line, headers, parameter, where
):
    method, _, path = request_line.partition(" ")
    body = {"value": "a long random value"} if method == "PUT" else None
    answer = serving.http.request(method, path, headers=headers, json=body)
    assert answer.status_code == 422, answer.text
    (error,) = answer.json()["errors"]
    assert (error["parameter"], error["in"], "pointer" in error) == (parameter, where, False)


@pytest.mark.parametrize(
    ("document", "field", "pointer"),
    [
        ({"trigger": {"cron": "0 25 * * *"}}, "trigger.cron.hour", "/trigger/cron"),
        ({"trigger": {}}, "trigger.cron", "/trigger/cron"),
        ({}, "retry.delay", "/retry/delay"),
        ({"a.b": 1}, "a.b", "/a.b"),
        ({"headers": {"x.y": "z"}}, "headers.x.y", "/headers/x.y"),
        ({"a~b/c": [{"d": 1}]}, "a~b/c.0.d", "/a~0b~1c/0/d"),
        ({"jobs": [1]}, "jobs.7.name", "/jobs/7/name"),
        ({"": 1}, "", ""),
        (None, "a.b", "/a/b"),
    ],
)
def test_a_pointer_leads_to_what_was_sent(document, field, pointer):
    assert json_pointer.pointer(field, document) == pointer


def test_a_name_with_many_dots_is_not_looked_for_by_each_of_them():
    class Counted(dict[str, object]):
        asked = 0

        def __contains__(self, key):
            Counted.asked += 1
            return super().__contains__(key)

    name = "a." * 1000
    sent = Counted(filter=Counted({name: 1}))
    assert json_pointer.pointer(f"filter.{name}", sent) == f"/filter/{name}"
    assert Counted.asked < 10


def _batch(*parts):
    """So many that only its parts can be small."""
    return b'{"jobs": [' + b", ".join([b'{"a": [1]}'] * 100 + [*parts]) + b"]}"


@pytest.mark.parametrize(
    "body",
    [
        b'{"a": 1, "a": 2}',
        b'{"a": {"b": [1, {"c": 1, "c": 1}]}}',
        b"[" * 33 + b"]" * 33,
        b'{"a": ' * 33 + b"1" + b"}" * 33,
        b'"' + b"x" * 65_537 + b'"',
        b"12345678901234567890",
        b"[1e999]",
        b"{" + b",".join(b'"%d": 1' % n for n in range(1001)) + b"}",
        _batch(b'{"a": 1, "b": [2], "a": 1}'),
        _batch(b"[" * 31 + b"]" * 31),
        _batch(b"{" + b",".join(b'"%d": 1' % n for n in range(1001)) + b"}"),
    ],
)
def test_the_quick_look_leaves_what_is_out_of_bounds_to_the_careful_one(body):
    assert plainly(body) is None
    with pytest.raises(TickwellError):
        parsed(body)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 32 + b"]" * 32,
        b'{"a" : ":", "b":": x"}',
        b'{"a": "\\u00e9", "b": "\\"c\\": 1"}',
        b'{"id": "3e0", "n": 1e3, "u": "\xc3\xa9"}',
        b'"' + b"x" * 65_536 + b'"',
        b"null",
        _batch(b"1", b'"a b"', b"[" * 30 + b"]" * 30, b"1.50", b"{ }"),
        _batch(b"{" + b",".join(b'"%d": [1]' % n for n in range(1000)) + b"}"),
    ],
)
def test_both_looks_find_the_same(body):
    assert parsed(body) == json.loads(body)


async def test_a_client_that_leaves_in_the_midst_is_no_mistake_of_ours(world, caplog):
    messages = [
        {"type": "http.request", "body": b"{", "more_body": True},
        {"type": "http.disconnect"},
    ]
    sent = []

    async def receive():
        return messages.pop(0)

    async def send(message):
        sent.append(message)

    headers = [(b"host", b"test"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "path": "/api/v1/jobs", "headers": headers}
    await world.app(
        scope | {"query_string": b"", "scheme": "http", "server": ("test", 80)}, receive, send
    )
    assert (sent, caplog.records) == ([], [])
