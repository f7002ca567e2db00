"""Signatures, by another hand too."""

import base64

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from standardwebhooks import Webhook

from tests.executors.http.conftest import a_claim
from tickwell.domain.http import Http, Json
from tickwell.domain.http.signature import read_key
from tickwell.errors import InvalidInput, InvalidJob
from tickwell.executors.http.request.signing import sign
from tickwell.receivers import Rejected, verify

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
OTHER = "whsec_" + base64.b64encode(bytes(range(32))).decode()
ID, TIMESTAMP, BODY = "msg_p5jXN8AQM9LWM0D4loKWxJek", 1_614_265_330, b'{"test": 2432232314}'


def keys(seed=bytes(32)):
    private = Ed25519PrivateKey.from_private_bytes(seed)
    public = private.public_key().public_bytes(
        serialization.Encoding.Raw, serialization.PublicFormat.Raw
    )
    return (
        "whsk_" + base64.b64encode(seed).decode(),
        "whsk_" + base64.b64encode(seed + public).decode(),
        "whpk_" + base64.b64encode(public).decode(),
    )


def headers(signature, timestamp=TIMESTAMP):
    return {
        "webhook-id": ID,
        "webhook-timestamp": str(timestamp),
        "webhook-signature": signature,
    }


def test_the_published_vector():
    expected = "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="
    assert sign([SECRET], ID, TIMESTAMP, BODY) == expected


def test_several_keys_make_several_signatures():
    signed = sign([OTHER, SECRET], ID, TIMESTAMP, BODY)
    assert len(signed.split(" ")) == 2
    for key in (OTHER, SECRET):
        assert verify(BODY, headers(signed), key, now=TIMESTAMP).id == ID


def test_ed25519_by_seed_and_by_pair():
    seed, pair, public = keys()
    signed = sign([seed], ID, TIMESTAMP, BODY)
    assert signed == sign([pair], ID, TIMESTAMP, BODY)
    assert signed.startswith("v1a,")
    assert verify(BODY, headers(signed), public, now=TIMESTAMP).timestamp == TIMESTAMP
    assert verify(BODY, headers(signed), seed, now=TIMESTAMP).id == ID
    with pytest.raises(Rejected):
        verify(BODY + b" ", headers(signed), public, now=TIMESTAMP)
    with pytest.raises(Rejected):
        verify(BODY, headers(signed), keys(bytes([1] * 32))[2], now=TIMESTAMP)


# It reads the body as JSON when it has verified it, so JSON it is.
@pytest.mark.parametrize("body", [{"a": "ü"}, '"text"', Json(None), {"at": "{{fire_time}}"}])
async def test_another_library_verifies_what_is_sent(send, body):
    _, receiver = await send(body=body, sign_with=[OTHER, SECRET, keys()[0]])
    sent = receiver.last
    assert len(sent.headers["webhook-signature"].split(" ")) == 3
    for secret in (SECRET, OTHER):
        Webhook(secret).verify(sent.body, sent.headers)
        assert verify(sent.body, sent.headers, secret).id == sent.headers["webhook-id"]
    assert verify(sent.body, sent.headers, keys()[2]).attempt == 1


async def test_each_attempt_has_its_own_second(executor, receive, monkeypatch):
    receiver = await receive()
    target = Http(receiver.url(), sign_with=SECRET)
    moments = iter([1_000_500, 1_065_000])
    monkeypatch.setattr(executor._clock, "now", lambda: next(moments))
    for attempt in (1, 2):
        await executor.run(a_claim(target, id="same", attempt=attempt))
    stamps = [exchange.headers["webhook-timestamp"] for exchange in receiver.exchanges]
    assert stamps == ["1000", "1065"]


BAD_KEYS = [
    "",
    "secret",
    "whsec_",
    "whsec_!!!",
    "whsec_" + base64.b64encode(bytes(23)).decode(),
    "whsec_" + base64.b64encode(bytes(65)).decode(),
    "whsk_" + base64.b64encode(bytes(31)).decode(),
    "whpk_" + base64.b64encode(bytes(33)).decode(),
    "other_" + base64.b64encode(bytes(32)).decode(),
]


@pytest.mark.parametrize("key", BAD_KEYS)
def test_bad_keys_are_refused_without_being_repeated(key):
    with pytest.raises(InvalidInput) as refused:
        read_key(key)
    assert len(key) < 8 or key[6:] not in str(refused.value)
    with pytest.raises(InvalidJob):
        Http("https://example.com/", sign_with=[key])


def test_a_public_key_cannot_sign():
    with pytest.raises(InvalidJob, match="cannot sign"):
        Http("https://example.com/", sign_with=[keys()[2]])


def test_keys_are_not_shown():
    assert SECRET not in repr(Http("https://example.com/", sign_with=SECRET))
    assert "MfKQ" not in repr(read_key(SECRET))


async def test_a_secret_that_is_no_key_is_not_tried_again(make_executor, receive):
    class Vault:
        async def get(self, project, names):
            return dict.fromkeys(names, "canary-not-a-key")

    executor, receiver = make_executor(secrets=Vault()), await receive()
    outcome = await executor.run(a_claim(Http(receiver.url(), sign_with="{{secret.hook}}")))
    assert (outcome.retry, receiver.connections) == (False, 0)
    assert "canary" not in outcome.error
