"""Secrets of receivers: a wrong one is told when the app is made, not to its senders."""

import base64
import sys
from typing import Any

import pytest

from tickwell.errors import InvalidInput, InvalidSetting
from tickwell.receivers import AsgiReceiver, WsgiReceiver, verify

SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
PUBLIC = "whpk_" + base64.b64encode(bytes(range(32))).decode()
app: Any = None

BOTH = pytest.mark.parametrize("kind", [AsgiReceiver, WsgiReceiver])


@BOTH
@pytest.mark.parametrize("secrets", ["", [], None, [None], "swordfish", "whsec_c2hvcnQ="])
def test_a_receiver_is_not_made_with_what_is_no_secret(kind, secrets):
    with pytest.raises(InvalidSetting, match=r"^secrets: .*whsec_…") as refused:
        kind(app, secrets)
    assert "swordfish" not in str(refused.value)


@BOTH
def test_a_receiver_is_not_made_that_cannot_verify(kind, monkeypatch):
    kind(app, PUBLIC)
    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.asymmetric.ed25519", None)
    with pytest.raises(InvalidSetting, match=r"pip install 'tickwell\[signing-ed25519\]'$"):
        kind(app, [SECRET, PUBLIC])
    kind(app, SECRET)


def test_a_body_that_was_decoded_is_told_from_one_that_came():
    text: Any = "{}"
    with pytest.raises(InvalidInput, match=r"^body: is a text.* Give the bytes that came"):
        verify(text, {}, SECRET)
