"""API keys as text: `tw_<id>_<secret>`."""

from __future__ import annotations

import hmac
import re
import secrets
from dataclasses import dataclass, field

from tickwell.services.keyring import Keyring

PREFIX = "tw_"
_SHAPE = re.compile(r"tw_([0-9a-z]{16})_([A-Za-z0-9_-]{43})")


@dataclass(frozen=True, slots=True)
class KeyToken:
    """The id, which is no secret, and 256 random bits, which are."""

    id: str
    secret: str = field(repr=False)

    @property
    def text(self) -> str:
        """As its owner keeps it."""
        return f"{PREFIX}{self.id}_{self.secret}"


def new_token() -> KeyToken:
    """A key that nobody had before."""
    return KeyToken(secrets.token_hex(8), secrets.token_urlsafe(32))


def read_token(text: str) -> KeyToken | None:
    """The parts, or None when it is no key."""
    found = _SHAPE.fullmatch(text)
    return KeyToken(found[1], found[2]) if found else None


def digest(keyring: Keyring, pepper: str, token: KeyToken) -> str | None:
    """What is stored instead of the secret: a fast hash is right for 256 random bits."""
    key = keyring.find(pepper)
    if key is None:
        return None
    message = f"{token.id}:{token.secret}".encode()
    return hmac.digest(key.derive("api key"), message, "sha256").hex()
