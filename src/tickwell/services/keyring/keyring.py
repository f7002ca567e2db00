"""Server keys by id. The first is used for what is new; the others open what is old."""

from __future__ import annotations

import base64
import binascii
import hmac
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from tickwell.errors import InvalidSetting

#: Bytes of a key at least, and different ones among them: a phrase repeated is no key.
SHORTEST, DISTINCT = 32, 16
_HINT = "Make one: openssl rand -base64 32"


@dataclass(frozen=True, slots=True)
class ServerKey:
    """A key; its id follows from it, so that nobody can mix them up."""

    value: bytes = field(repr=False)

    @property
    def id(self) -> str:
        """Tells which key was used, and nothing about it."""
        return self.derive("id")[:6].hex()

    def derive(self, purpose: str) -> bytes:
        """32 bytes for one purpose; those for one tell nothing about those for another."""
        return _derived(self.value, purpose)


@lru_cache(maxsize=64)
def _derived(value: bytes, purpose: str) -> bytes:
    return hmac.digest(value, f"tickwell:{purpose}".encode(), "sha256")


class Keyring:
    """All server keys that this process knows."""

    def __init__(self, keys: Sequence[ServerKey]) -> None:
        self._keys = {key.id: key for key in keys}
        #: For all that is new.
        self.current = keys[0]

    @property
    def ids(self) -> list[str]:
        """The newest first."""
        return list(self._keys)

    def find(self, id: str) -> ServerKey | None:
        """The key with this id, if it is known here."""
        return self._keys.get(id)


def read_keys(texts: Iterable[str], field: str) -> Keyring:
    """A keyring from keys as base64, the newest first; refused without telling what they were."""
    keys = [ServerKey(_read(text.strip(), field)) for text in texts if text.strip()]
    if not keys:
        raise InvalidSetting("contains no key", field=field, hint=_HINT)
    return Keyring(keys)


def _read(text: str, field: str) -> bytes:
    try:
        value = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        raise InvalidSetting("a key is not base64", field=field, hint=_HINT) from None
    if len(value) < SHORTEST or len(set(value)) < DISTINCT:
        raise InvalidSetting(
            f"a key is shorter than {SHORTEST} bytes, so it could be guessed",
            field=field,
            hint=_HINT,
        )
    return value
