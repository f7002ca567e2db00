"""Which headers, parameters and members of a webhook hold credentials."""

from tickwell.domain.http import Http, Json
from tickwell.services.redaction.masking import masked_target

NAMES = {
    "Ocp-Apim-Subscription-Key": True,
    "x-functions-key": True,
    "DD-API-KEY": True,
    "PRIVATE-TOKEN": True,
    "X-Pass": True,
    "Idempotency-Key": False,
    "X-Partition-Key": False,
    "Cache-Control": False,
    "X-Keyboard": False,
}


def test_headers_with_credentials_are_known_by_their_names():
    shown = masked_target(Http("https://example.com/", headers=dict.fromkeys(NAMES, "7")))
    assert isinstance(shown, Http)
    assert {name: text == "{{masked}}" for name, text in shown.headers.items()} == NAMES


def test_a_subscription_key_is_masked_in_query_and_body_too():
    query, body = {"subscription-key": "7"}, Json({"subscription_key": "7"})
    shown = masked_target(Http("https://example.com/", query=query, body=body))
    assert isinstance(shown, Http)
    assert (shown.query, shown.body) == (
        {"subscription-key": "{{masked}}"},
        Json({"subscription_key": "{{masked}}"}),
    )
