"""What answers mean."""

from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from tests.executors.http.receiver import answers, sends, told

NOW = datetime(2026, 11, 15, 9, tzinfo=UTC)


@pytest.mark.parametrize("status", [200, 201, 202, 204, 299])
async def test_2xx_is_success(send, status):
    outcome, _ = await send(answers(status, b"" if status == 204 else b"ok"))
    assert (outcome.kind, outcome.result["status"]) == ("succeeded", status)


@pytest.mark.parametrize("status", [408, 425, 429, 500, 502, 503, 504, 599, 999])
async def test_what_may_pass_is_tried_again(send, status):
    outcome, _ = await send(answers(status, b"busy"))
    assert (outcome.kind, outcome.retry) == ("failed", True)
    assert told(outcome) == {"status": status, "body": "busy", "bytes": 4}
    assert outcome.error.startswith(f"HTTP {status} ")
    assert outcome.error.endswith(": busy")


@pytest.mark.parametrize(
    "status", [300, 301, 302, 303, 304, 307, 308, 400, 401, 403, 404, 409, 422]
)
async def test_what_will_not_pass_is_not(send, status):
    outcome, _ = await send(answers(status, b""))
    assert (outcome.kind, outcome.retry, outcome.pause) == ("failed", False, None)


async def test_which_codes_is_up_to_the_target(send):
    outcome, _ = await send(answers(409), retry_on=[409])
    assert outcome.retry
    outcome, _ = await send(answers(429), retry_on=[409])
    assert not outcome.retry


@pytest.mark.parametrize(
    ("said", "retry"), [("no", False), (" No ", False), ("yes", True), ("", True)]
)
async def test_a_receiver_may_say_that_another_attempt_is_pointless(send, said, retry):
    outcome, _ = await send(answers(503, headers=[f"Tickwell-Retry: {said}"]))
    assert (outcome.kind, outcome.retry) == ("failed", retry)
    assert outcome.why_final == ("" if retry else "the receiver answered with Tickwell-Retry: no")


async def test_a_success_is_one_whatever_the_receiver_says_of_retries(send):
    outcome, _ = await send(answers(200, headers=["Tickwell-Retry: no"]))
    assert outcome.kind == "succeeded"


async def test_410_pauses_the_job(send):
    outcome, _ = await send(answers(410))
    assert (outcome.retry, outcome.pause) == (False, "answered 410 Gone")


@pytest.mark.parametrize(
    ("asked", "delay"),
    [
        ("7", 7000),
        ("0", 0),
        ("soon", None),
        ("-3", None),
        ("9" * 50, 366 * 86_400_000),
        ("²", None),
    ],
)
async def test_retry_after_seconds_are_waited(send, asked, delay):
    outcome, _ = await send(answers(503, headers=[f"Retry-After: {asked}"]))
    assert outcome.delay == delay


@pytest.mark.parametrize("seconds", [90, -90])
async def test_retry_after_a_date_is_waited_for(seconds):
    from tickwell.clock import to_millis
    from tickwell.executors.http.response.answer import Answer
    from tickwell.executors.http.response.verdict import retry_after

    date = format_datetime(NOW + timedelta(seconds=seconds), usegmt=True)
    answer = Answer(503, "", {"Retry-After": date}, b"", complete=True)
    assert retry_after(answer, to_millis(NOW)) == max(seconds, 0) * 1000


async def test_what_is_kept_is_cut_and_counted(send):
    outcome, _ = await send(answers(body="ü".encode() * 5000))
    assert told(outcome) == {"status": 200, "body": "ü" * 1000, "bytes": 10_000}
    outcome, _ = await send(answers(body=b"x" * 5000), keep=3)
    assert outcome.result["body"] == "xxx"
    outcome, _ = await send(answers(body=b"x" * 5000), keep=0)
    assert outcome.result["body"] == ""


@pytest.mark.parametrize(
    ("body", "kind", "kept"),
    [
        (b"a\x00b\xffc\x1b[0m", "text/plain", "a�b�c�[0m"),
        ("caf\xe9".encode("latin-1"), "text/plain; charset=ISO-8859-1", "café"),
        ("café".encode(), "text/plain; charset=zlib", "café"),
        ("café".encode(), 'text/plain; charset="utf-8"', "café"),
        (b"\xed\xa0\x80", "text/plain", "���"),
    ],
)
async def test_what_is_kept_is_text_whatever_came(send, body, kind, kept):
    outcome, _ = await send(answers(body=body, headers=[f"Content-Type: {kind}"]))
    assert outcome.result["body"] == kept
    outcome.result["body"].encode()


async def test_a_body_without_length_ends_with_the_connection(send):
    outcome, _ = await send(sends(b"HTTP/1.1 200 OK\r\n\r\n", b"all of it"))
    assert told(outcome) == {"status": 200, "body": "all of it", "bytes": 9}
