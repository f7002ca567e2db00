"""Signatures by Standard Webhooks: which bytes are signed, and how keys are written."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
from dataclasses import dataclass, field
from enum import StrEnum

from tickwell.errors import InvalidInput

#: Bytes of a symmetric secret.
SHORTEST, LONGEST = 24, 64


class Version(StrEnum):
    """The first part of a signature."""

    #: HMAC-SHA256 with a shared secret.
    HMAC = "v1"
    #: ed25519.
    ED25519 = "v1a"


@dataclass(frozen=True, slots=True)
class Key:
    """A key as bytes, with what it is for."""

    version: Version
    #: An ed25519 key may be `whpk_`: good for verifying only.
    public: bool
    value: bytes = field(repr=False)


def read_key(text: str) -> Key:
    """A key from `whsec_…`, `whsk_…` or `whpk_…`; refused without telling what it was."""
    prefix, _, encoded = text.strip().partition("_")
    try:
        value = base64.b64decode(encoded, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidInput("the key is not base64 after its prefix", field="sign_with") from None
    if prefix == "whsec" and SHORTEST <= len(value) <= LONGEST:
        return Key(Version.HMAC, public=False, value=value)
    if prefix == "whsk" and len(value) in {32, 64}:
        # 64 bytes: the seed, then the public key that follows from it.
        return Key(Version.ED25519, public=False, value=value[:32])
    if prefix == "whpk" and len(value) == 32:
        return Key(Version.ED25519, public=True, value=value)
    raise InvalidInput(
        "the key is not a Standard Webhooks key",
        field="sign_with",
        hint=f"Use whsec_ and {SHORTEST} to {LONGEST} random bytes as base64, or whsk_ and 32",
    )


def signed_bytes(id: str, timestamp: int, body: bytes) -> bytes:
    """What a signature stands for: id, second of the attempt, and the very bytes sent."""
    return b"%b.%d.%b" % (id.encode(), timestamp, body)


def hmac_signature(key: Key, message: bytes) -> str:
    """The part of the header that a `whsec_` key makes."""
    digest = hmac.new(key.value, message, hashlib.sha256).digest()
    return f"{Version.HMAC},{base64.b64encode(digest).decode()}"
