"""Signatures over the very bytes that are sent."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from tickwell.domain.http.signature import (
    Key,
    Version,
    hmac_signature,
    read_key,
    signed_bytes,
)
from tickwell.errors import InvalidInput

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

_key = lru_cache(maxsize=1024)(read_key)


def sign(keys: Sequence[str], id: str, timestamp: int, body: bytes) -> str:
    """The header `webhook-signature`: one signature for each key, so that keys can be rotated."""
    message = signed_bytes(id, timestamp, body)
    return " ".join(_signature(_key(key), message) for key in keys)


def _signature(key: Key, message: bytes) -> str:
    if key.version is Version.HMAC:
        return hmac_signature(key, message)
    if key.public:
        raise InvalidInput("a whpk_ key verifies, it cannot sign", field="sign_with")
    signature = _private_key(key).sign(message)
    return f"{Version.ED25519},{base64.b64encode(signature).decode()}"


@lru_cache(maxsize=1024)
def _private_key(key: Key) -> Ed25519PrivateKey:
    try:
        # An extra: most webhooks are signed with a shared secret.
        from cryptography.hazmat.primitives.asymmetric import ed25519  # noqa: PLC0415
    except ImportError:
        raise InvalidInput(
            "signing with a whsk_ key needs the package cryptography",
            field="sign_with",
            hint='pip install "tickwell[signing-ed25519]"',
        ) from None
    return ed25519.Ed25519PrivateKey.from_private_bytes(key.value)
