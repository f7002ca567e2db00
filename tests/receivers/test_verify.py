"""Receivers: whom to believe."""

from datetime import UTC, datetime

import pytest

from tickwell.domain.http.signature import hmac_signature, read_key, signed_bytes
from tickwell.errors import InvalidInput
from tickwell.receivers import Rejected, verify

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
NOW = 1_614_265_330


def signed(body=b"{}", id="msg_1", timestamp=NOW, secret=SECRET, **more):
    signature = hmac_signature(read_key(secret), signed_bytes(id, timestamp, body))
    return {
        "Webhook-Id": id,
        "WEBHOOK-TIMESTAMP": str(timestamp),
        "webhook-signature": signature,
        **more,
    }


def test_a_good_one_tells_what_it_is():
    more = {
        "tickwell-attempt": "3",
        "tickwell-fire-time": "2026-11-15T09:00:00.000Z",
        "tickwell-job": "j",
    }
    delivery = verify(b"{}", signed(**more), SECRET, now=NOW)
    assert (delivery.id, delivery.timestamp, delivery.attempt) == ("msg_1", NOW, 3)
    assert delivery.fire_time == datetime(2026, 11, 15, 9, tzinfo=UTC)
    assert delivery.job == "j"


def test_another_sender_says_less():
    delivery = verify(b"{}", signed(), SECRET, now=NOW)
    assert (delivery.attempt, delivery.fire_time, delivery.job) == (0, None, None)


@pytest.mark.parametrize("attempt", ["", "x", "-1", "9" * 5000, "²"])
def test_what_else_it_says_cannot_hurt(attempt):
    more = {"tickwell-attempt": attempt, "tickwell-fire-time": "yesterday"}
    assert verify(b"{}", signed(**more), SECRET, now=NOW).fire_time is None


@pytest.mark.parametrize("off", [-300, 0, 300])
def test_a_little_off_is_good(off):
    assert verify(b"{}", signed(), [SECRET], now=NOW + off).id == "msg_1"


@pytest.mark.parametrize(
    ("change", "body", "now"),
    [
        ({}, b"{} ", NOW),
        ({}, b"{}", NOW + 301),
        ({}, b"{}", NOW - 301),
        ({"Webhook-Id": "msg_2"}, b"{}", NOW),
        ({"Webhook-Id": ""}, b"{}", NOW),
        ({"Webhook-Id": "msg_1.1"}, b"{}", NOW),
        ({"Webhook-Id": "ü\ud800"}, b"{}", NOW),
        ({"WEBHOOK-TIMESTAMP": str(NOW + 1)}, b"{}", NOW),
        ({"WEBHOOK-TIMESTAMP": "soon"}, b"{}", NOW),
        ({"WEBHOOK-TIMESTAMP": "9" * 5000}, b"{}", NOW),
        ({"WEBHOOK-TIMESTAMP": "1614265330.0"}, b"{}", NOW),
        ({"webhook-signature": ""}, b"{}", NOW),
        ({"webhook-signature": "v1"}, b"{}", NOW),
        ({"webhook-signature": "v1,"}, b"{}", NOW),
        ({"webhook-signature": "v1,ü\ud800"}, b"{}", NOW),
        ({"webhook-signature": "v2,abc v1a,!!! v1,AAAA"}, b"{}", NOW),
    ],
)
def test_anything_else_is_rejected(change, body, now):
    with pytest.raises(Rejected) as rejected:
        verify(body, signed() | change, SECRET, now=now)
    assert rejected.value.status == 401


def test_no_headers_at_all_are_rejected():
    with pytest.raises(Rejected):
        verify(b"", {}, SECRET)


def test_only_so_many_signatures_are_looked_at():
    headers = signed()
    headers["webhook-signature"] = "v1,AAAA " * 16 + headers["webhook-signature"]
    with pytest.raises(Rejected):
        verify(b"{}", headers, SECRET, now=NOW)


@pytest.mark.parametrize("secrets", [[], "", "secret", ["whsec_short"]])
def test_without_a_secret_nothing_is_verified(secrets):
    with pytest.raises(InvalidInput):
        verify(b"{}", signed(), secrets, now=NOW)
